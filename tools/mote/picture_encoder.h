// SPDX-License-Identifier: Apache-2.0
//
// Pictures through an encoder, one at a time.
#pragma once

#include <string>
#include <vector>

#include "host/media/fitted.h"
#include "mote/pictures.h"
#include "tools/mote/rows_encoder.h"

namespace mote::cli {

bool takes_pictures(const ModelFile& file);

/// The depths [height, width] of picture `index` of a session's run, of a model of depth.
std::vector<float> depth_map(const mote_picture_info& picture, const Session& session, uint32_t index);

class PictureEncoder {
 public:
  /// Throws convert::Error for a model that takes no pictures.
  PictureEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool);

  const mote_output_info& output() const { return encoder_.output(); }
  const mote_picture_info& picture() const { return picture_; }

  /// Of a PNG or JPEG; its outputs stay until the next.
  void encode(const std::string& path);
  /// Its sides.
  pictures::Sides sides() const { return sides_; }

  /// A row of outputs, and the same as probabilities: the only one, or of a detector one of
  /// picture().after.
  std::vector<float> row() const { return encoder_.row(); }
  std::vector<float> probabilities(uint32_t index = 0) const { return encoder_.probabilities(index); }
  /// Of a model of depth: [height, width] of what the picture became.
  std::vector<float> depths() const { return depth_map(picture_, encoder_.session(), 0); }

 private:
  mote_picture_info picture_;
  RowsEncoder encoder_;
  std::vector<float> rows_;
  pictures::Sides sides_{};
};

}  // namespace mote::cli
