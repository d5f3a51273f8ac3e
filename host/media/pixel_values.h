// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/media/fitted.h"
#include "host/media/rows.h"
#include "mote/pictures.h"

namespace mote::pictures {

/// Gives the rows of a picture to a sink.
using RowSource = std::function<void(RowSink& sink)>;
/// Reads a file of a picture, which must outlive the source. Where it cannot be read the source throws
/// convert::Error, whose message begins with `name`.
RowSource rows_of_file(std::span<const std::byte> file, const std::string& name, const Limits& limits = {});
/// Reads pixels [height, width, 3], which must outlive the source.
RowSource rows_of_pixels(const uint8_t* pixels, uint32_t width, uint32_t height);

/// Pixel values [3, height, width] of a picture, by the steps that the model's file has. Throws
/// convert::Error. `own` becomes the sides of the picture, unless it is null.
std::vector<float> pixel_values(const RowSource& rows, const mote_picture_info& info,
                                const Limits& limits = {}, Sides* own = nullptr);
/// Returns the pixel values of a file of a picture.
std::vector<float> pixel_values(std::span<const std::byte> file, const std::string& name,
                                const mote_picture_info& info, const Limits& limits = {},
                                Sides* own = nullptr);

/// The pixel values [3, height, width] of a picture of sides that are not the model's own.
struct SizedValues {
  uint32_t height, width;
  std::vector<float> values;
};

/// Returns the pixel values of a model of any size, by the steps of its file but for the size, where one is
/// wanted. Throws convert::Error. `own` becomes the sides of the picture, unless it is null.
SizedValues sized_values(const RowSource& rows, const mote_picture_info& info,
                         const std::optional<WantedSides>& wanted, const Limits& limits = {},
                         Sides* own = nullptr);

/// The parts that a model takes of one picture: tiles from left to right and then down, and the whole behind
/// them, or the whole alone.
struct PictureParts {
  uint32_t height, width;                  // of each
  uint32_t lines, columns;                 // of tiles; 0: there are none
  std::vector<std::vector<float>> values;  // [3, height, width] of each
};

/// Returns the parts for models that may see pictures of any ratio, or tiles of them. Throws convert::Error.
PictureParts picture_parts(const RowSource& rows, const mote_picture_info& info, const Limits& limits = {});
/// Returns the parts of a file of a picture.
PictureParts picture_parts(std::span<const std::byte> file, const std::string& name,
                           const mote_picture_info& info, const Limits& limits = {});

}  // namespace mote::pictures
