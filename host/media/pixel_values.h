// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/media/fitted.h"
#include "mote/pictures.h"

namespace mote::pictures {

/// Pixel values [3, height, width] of a PNG or JPEG, by the steps that the model's file has. Throws
/// convert::Error, whose message begins with `name`. `own` becomes the sides of the file's picture, unless it
/// is null.
std::vector<float> pixel_values(std::span<const std::byte> file, const std::string& name,
                                const mote_picture_info& info, const Limits& limits = {},
                                Sides* own = nullptr);

/// What a model takes of one picture: tiles from left to right and then down, and the whole behind them, or
/// the whole alone.
struct PictureParts {
  uint32_t height, width;                  // of each
  uint32_t lines, columns;                 // of tiles; 0: there are none
  std::vector<std::vector<float>> values;  // [3, height, width] of each
};

/// The same of models that take pictures of any ratio, or tiles of them.
PictureParts picture_parts(std::span<const std::byte> file, const std::string& name,
                           const mote_picture_info& info, const Limits& limits = {});

}  // namespace mote::pictures
