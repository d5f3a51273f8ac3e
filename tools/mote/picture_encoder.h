// SPDX-License-Identifier: Apache-2.0
//
// The library's encoder of pictures, over files, whose failures are exceptions.
#pragma once

#include <string>
#include <vector>

#include "host/media/sides.h"
#include "host/tasks/picture_encoder.h"
#include "tools/mote/session.h"

namespace mote::cli {

inline bool takes_pictures(const ModelFile& file) { return host::takes_pictures(file.host()); }

/// Returns the pixel values of a PNG or JPEG, as the model takes them; `own` becomes the picture's sides,
/// unless it is null.
std::vector<float> picture_values(const std::string& path, const mote_picture_info& info,
                                  pictures::Sides* own = nullptr);

class PictureEncoder {
 public:
  /// Throws convert::Error for a model that takes no pictures.
  PictureEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool)
      : encoder_(take(host::PictureEncoder::make(file.host(), session_choices(file, flags, pool)))) {}

  const mote_output_info& output() const { return encoder_.output(); }
  const mote_picture_info& picture() const { return encoder_.picture(); }

  /// Encodes a PNG or JPEG. Ctrl-C ends it with Interrupted. Outputs stay until the next call.
  void encode(const std::string& path);
  /// Returns the sides of the last picture.
  pictures::Sides sides() const { return sides_; }

  std::vector<float> row() const { return encoder_.row(); }
  std::vector<float> probabilities() const { return take(encoder_.probabilities()); }
  std::vector<float> depths() const { return encoder_.depths(); }
  std::vector<host::Box> boxes(float threshold) const { return take(encoder_.boxes(sides_, threshold)); }

 private:
  host::PictureEncoder encoder_;
  pictures::Sides sides_{};
};

}  // namespace mote::cli
