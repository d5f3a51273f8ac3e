// SPDX-License-Identifier: Apache-2.0
//
// Pictures through an encoder, one at a time: vectors, labels, boxes, depths.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/media/chosen_size.h"
#include "host/media/sides.h"
#include "host/tasks/rows_encoder.h"
#include "mote/pictures.h"

namespace mote::host {

bool takes_pictures(const Model& model);

/// Returns the depths [height, width] of picture `index` of a session's run, of a model of depth.
std::vector<float> depth_map(const mote_picture_info& picture, const Session& session, uint32_t index);

/// A box in pixels of the picture, which it may stand out of.
struct Box {
  std::string label;
  float probability;
  float left, top, right, bottom;
};

class PictureEncoder {
 public:
  /// Fails for a model that takes no pictures, and with `any_size` for one that takes one size alone. The
  /// model must outlive the encoder, whose memory is for the model's own size or, with `any_size` or
  /// where pictures choose their size, for the most rows.
  static Result<PictureEncoder> make(const Model& model, const SessionChoices& choices,
                                     bool any_size = false);
  /// Says whether the encoder, one of any size, takes pictures whose sides are their own choice.
  bool lets_choose() const { return any_size_ && pictures::chooses_size(picture_); }

  const Model& model() const { return encoder_.model(); }
  const mote_output_info& output() const { return encoder_.output(); }
  size_t memory_bytes() const { return encoder_.session().arena_bytes(); }
  /// Returns which pixel values the model takes, those of set_size or its own.
  const mote_picture_info& picture() const { return picture_; }

  /// Says whether the encoder, one of any size, takes pictures of these sides; if not, why.
  Status check_size(uint32_t height, uint32_t width) const;
  /// Makes the encoder, one of any size, take pictures of these sides. Allocates nothing.
  Status set_size(uint32_t height, uint32_t width, std::string_view name);

  /// Encodes pixel values [3, picture().height, picture().width]; `name` begins messages about the picture.
  /// Outputs stay until the next call.
  Status encode(std::span<const float> pixels, const Hooks& hooks, std::string_view name);

  /// Returns a row of outputs: the only one, or of a detector one of picture().after.
  std::vector<float> row() const { return encoder_.row(); }
  Result<std::vector<float>> probabilities(uint32_t index = 0) const { return encoder_.probabilities(index); }

  /// Returns the depths [picture().height, picture().width] of a model of depth.
  std::vector<float> depths() const { return depth_map(picture_, encoder_.session(), 0); }
  /// Returns what a detector found that is likelier than `threshold`, a box a row, the likeliest first.
  /// `sides` are those of the picture before it became pixel values.
  Result<std::vector<Box>> boxes(pictures::Sides sides, float threshold) const;

 private:
  PictureEncoder(const mote_picture_info& picture, RowsEncoder encoder, uint32_t most_rows, bool any_size);

  mote_picture_info picture_;
  RowsEncoder encoder_;
  std::vector<float> rows_;  // [most rows, row_width]
  bool any_size_;
};

}  // namespace mote::host
