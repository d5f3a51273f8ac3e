// SPDX-License-Identifier: Apache-2.0
#include "host/media/pixel_values.h"

#include <algorithm>
#include <array>

#include "host/base/error.h"
#include "host/media/fitted.h"
#include "host/media/resample.h"

namespace mote::pictures {
namespace {

bool begins(std::span<const std::byte> file, std::initializer_list<uint8_t> bytes) {
  return file.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), file.begin(),
                                                   [](uint8_t a, std::byte b) { return std::byte{a} == b; });
}

Filter filter_of(const mote_picture_info& info) {
  if (info.resample == static_cast<uint32_t>(Filter::lanczos)) return Filter::lanczos;
  return info.resample == static_cast<uint32_t>(Filter::bicubic) ? Filter::bicubic : Filter::bilinear;
}

Shape shape_of(const mote_picture_info& info) {
  return {info.resize_height, info.resize_width, info.crop_height,
          info.crop_width,    info.height,       info.width,
          filter_of(info),    info.multiple,     info.tile == 0 ? info.longest : 0};
}

}  // namespace

FileType type_of(std::span<const std::byte> file) {
  if (begins(file, {0x89, 'P', 'N', 'G'})) return FileType::png;
  if (begins(file, {0xFF, 0xD8, 0xFF})) return FileType::jpeg;
  convert::fail("is neither a PNG nor a JPEG");
}

void read_rows(std::span<const std::byte> file, const Limits& limits, RowSink& sink) {
  (type_of(file) == FileType::png ? read_png : read_jpeg)(file, limits, sink);
}

namespace {

void check_steps(const mote_picture_info& info) {
  if (info.rescale == 0.0f) {
    convert::fail(
        "the file does not say how pictures become pixel values: it was converted without a "
        "preprocessor_config.json of a known kind");
  }
  if (info.channels != kColours) convert::fail("the model takes {} colours, pictures have 3", info.channels);
}

/// Passes rows on and keeps the sides of their picture.
class Measured : public RowSink {
 public:
  explicit Measured(RowSink& to) : to_(to) {}

  void begin(uint32_t width, uint32_t height, Turn turn) override {
    sides_ = {height, width};
    to_.begin(width, height, turn);
  }
  void row(const uint8_t* pixels) override { to_.row(pixels); }
  Sides sides() const { return sides_; }

 private:
  RowSink& to_;
  Sides sides_{};
};

/// Returns the values [3, height, width] of a picture [height, width, 3].
std::vector<float> values_of(const Raster& picture, const mote_picture_info& info) {
  const size_t plane = size_t{picture.height} * picture.width;
  std::vector<float> values(plane * kColours);
  for (size_t colour = 0; colour < kColours; ++colour) {
    std::array<float, 256> value_of{};
    for (size_t byte = 0; byte < value_of.size(); ++byte) {
      const float scaled = static_cast<float>(byte) * info.rescale;
      value_of[byte] = (scaled - info.mean[colour]) / info.deviation[colour];
    }
    for (size_t i = 0; i < plane; ++i)
      values[colour * plane + i] = value_of[picture.pixels[i * kColours + colour]];
  }
  return values;
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
  Resampler resampler(shape_of(info), limits);
  Measured measured(resampler);
  rows(measured);
  if (own != nullptr) *own = measured.sides();
  return values_of({info.height, info.width, resampler.result()}, info);
}

PictureParts picture_parts(const RowSource& rows, const mote_picture_info& info, const Limits& limits) {
  if (info.tile == 0 && info.most_pixels == 0)
    return {info.height, info.width, 0, 0, {pixel_values(rows, info, limits)}};
  check_steps(info);
  FittedResampler fitted(info, filter_of(info), limits);
  rows(fitted);
  Raster whole = fitted.result();
  if (info.tile == 0) return {whole.height, whole.width, 0, 0, {values_of(whole, info)}};
  const uint32_t side = info.tile;
  whole = resized_to(whole, tiled_sides(whole.height, whole.width, side), filter_of(info), limits);
  PictureParts parts{info.height, info.width, 0, 0, {}};
  if (whole.height > side || whole.width > side) {
    parts.lines = whole.height / side;
    parts.columns = whole.width / side;
    for (uint32_t line = 0; line < parts.lines; ++line) {
      for (uint32_t column = 0; column < parts.columns; ++column)
        parts.values.push_back(values_of(cut(whole, info, line * side, column * side), info));
    }
    whole = resized_to(whole, {side, side}, filter_of(info), limits);
  }
  parts.values.push_back(values_of(cut(whole, info, 0, 0), info));
  return parts;
}

}  // namespace mote::pictures
