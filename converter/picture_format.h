// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace mote::convert {

/// A size of pictures that a user chooses, in pixels; 0: none.
struct PictureSides {
  uint32_t height = 0, width = 0;
};

/// The schema's.
enum class PictureStepKind : uint8_t {
  resize,
  resize_shorter,
  resize_bounded,
  resize_evenly,
  resize_pixels,
  resize_longer,
  crop,
  tile,
  rescale,
  normalize,
  resize_patches
};

/// The schema's.
struct PictureStep {
  PictureStepKind kind = PictureStepKind::resize;
  uint32_t filter = 0, height = 0, width = 0, multiple = 1, least = 0, most = 0;
  float factor = 0.0f;
  std::vector<float> mean = {}, std = {};
};

/// The schema's Picture: what becomes a program's rows of floats.
struct PictureFormat {
  uint32_t height = 0, width = 0, channels = 0, patch = 0;  // no height: the program takes no pictures
  uint32_t before = 0, after = 0;
  std::vector<PictureStep> steps = {};
  float similarity_scale = 0.0f, similarity_bias = 0.0f;
  bool any_size = false;
  uint32_t rope_width = 0;
  float rope_base = 0.0f;
  uint32_t positions_side = 0;
  bool channels_last = false;
  uint32_t merge = 1, frames = 1;
  bool angles_by_place = false, positions_by_corners = false, positions_cubic = false;

  uint32_t patches() const { return (height / patch) * (width / patch); }
  uint32_t rows() const { return before + patches() + after; }
  uint32_t pixels_of_row() const { return channels * frames * patch * patch; }
  uint32_t row_width() const { return pixels_of_row() + rope_width + positions_side * positions_side; }
};

}  // namespace mote::convert
