// SPDX-License-Identifier: Apache-2.0
#include "host/media/pixel_values.h"

#include <array>

#include "host/base/error.h"
#include "host/media/fitted.h"

namespace mote::pictures {
namespace {

void check_steps(const mote_picture_info& info) {
  if (info.step_count == 0) {
    convert::fail(
        "the file does not say how pictures become pixel values: it was converted without a "
        "preprocessor_config.json of a known kind");
  }
  if (info.channels != kColours) convert::fail("the model takes {} colours, pictures have 3", info.channels);
}

/// Returns the values [3, height, width] of a picture [height, width, 3].
std::vector<float> values_of(const Raster& picture, const Prepared& steps) {
  const size_t plane = size_t{picture.height} * picture.width;
  std::vector<float> values(plane * kColours);
  for (size_t colour = 0; colour < kColours; ++colour) {
    std::array<float, 256> value_of{};
    for (size_t byte = 0; byte < value_of.size(); ++byte) {
      const float scaled = static_cast<float>(byte) * steps.factor;
      value_of[byte] = (scaled - steps.mean[colour]) / steps.deviation[colour];
    }
    for (size_t i = 0; i < plane; ++i)
      values[colour * plane + i] = value_of[picture.pixels[i * kColours + colour]];
  }
  return values;
}

/// Says that the picture decides its sides.
bool chooses_sides(const mote_picture_info& info) {
  return info.steps[0].kind == MOTE_PICTURE_RESIZE_PIXELS || info.steps[0].kind == MOTE_PICTURE_RESIZE_LONGER;
}

/// Returns the part of a tile that the model sees: the tile begins at a place of the picture, and the part is
/// smaller where the tile is no multiple of the patch.
Raster cut(const Raster& picture, const mote_picture_info& info, uint32_t top, uint32_t left) {
  Raster tile{info.height, info.width, {}};
  for (uint32_t y = 0; y < info.height; ++y) {
    const auto row = picture.pixels.begin() + (size_t{top + y} * picture.width + left) * kColours;
    tile.pixels.insert(tile.pixels.end(), row, row + size_t{info.width} * kColours);
  }
  return tile;
}

}  // namespace

RowSource rows_of_file(std::span<const std::byte> file, const std::string& name, const Limits& limits) {
  return [file, name, limits](RowSink& sink) {
    try {
      read_rows(file, limits, sink);
    } catch (const convert::Error& error) {
      convert::fail("{}: {}", name, error.what());
    }
  };
}

RowSource rows_of_pixels(const uint8_t* pixels, uint32_t width, uint32_t height) {
  return [pixels, width, height](RowSink& sink) {
    sink.begin(width, height);
    for (uint32_t y = 0; y < height; ++y) sink.row(pixels + size_t{y} * width * kColours);
  };
}

std::vector<float> pixel_values(std::span<const std::byte> file, const std::string& name,
                                const mote_picture_info& info, const Limits& limits, Sides* own) {
  return pixel_values(rows_of_file(file, name, limits), info, limits, own);
}

PictureParts picture_parts(std::span<const std::byte> file, const std::string& name,
                           const mote_picture_info& info, const Limits& limits) {
  return picture_parts(rows_of_file(file, name, limits), info, limits);
}

std::vector<float> pixel_values(const RowSource& rows, const mote_picture_info& info, const Limits& limits,
                                Sides* own) {
  check_steps(info);
  FittedResampler fitted(info, false, limits);
  rows(fitted);
  if (own != nullptr) *own = fitted.own();
  return values_of(fitted.result(), fitted.steps());
}

SizedValues sized_values(const RowSource& rows, const mote_picture_info& info,
                         const std::optional<WantedSides>& wanted, const Limits& limits, Sides* own) {
  check_steps(info);
  FittedResampler fitted =
      wanted ? FittedResampler(info, *wanted, limits) : FittedResampler(info, true, limits);
  rows(fitted);
  if (own != nullptr) *own = fitted.own();
  const Raster made = fitted.result();
  return {made.height, made.width, values_of(made, fitted.steps())};
}

PictureParts picture_parts(const RowSource& rows, const mote_picture_info& info, const Limits& limits) {
  check_steps(info);
  FittedResampler fitted(info, chooses_sides(info), limits);
  rows(fitted);
  const Prepared& steps = fitted.steps();
  Raster whole = fitted.result();
  if (steps.tile == 0) return {whole.height, whole.width, 0, 0, {values_of(whole, steps)}};
  const uint32_t side = steps.tile;
  whole = resized_to(whole, tiled_sides({whole.height, whole.width}, side), steps.filter, limits);
  PictureParts parts{info.height, info.width, 0, 0, {}};
  if (whole.height > side || whole.width > side) {
    parts.lines = whole.height / side;
    parts.columns = whole.width / side;
    for (uint32_t line = 0; line < parts.lines; ++line) {
      for (uint32_t column = 0; column < parts.columns; ++column)
        parts.values.push_back(values_of(cut(whole, info, line * side, column * side), steps));
    }
    whole = resized_to(whole, {side, side}, steps.filter, limits);
  }
  parts.values.push_back(values_of(cut(whole, info, 0, 0), steps));
  return parts;
}

}  // namespace mote::pictures
