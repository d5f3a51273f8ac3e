// SPDX-License-Identifier: Apache-2.0
#include "pictures/pixel_values.h"

#include <algorithm>
#include <array>

#include "converter/error.h"
#include "pictures/resample.h"

namespace mote::pictures {
namespace {

bool begins(std::span<const std::byte> file, std::initializer_list<uint8_t> bytes) {
  return file.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), file.begin(),
                                                   [](uint8_t a, std::byte b) { return std::byte{a} == b; });
}

Shape shape_of(const mote_picture_info& info) {
  return {info.resize_height,
          info.resize_width,
          info.crop_height,
          info.crop_width,
          info.height,
          info.width,
          info.resample == 3 ? Filter::bicubic : Filter::bilinear};
}

}  // namespace

void read_rows(std::span<const std::byte> file, const Limits& limits, RowSink& sink) {
  if (begins(file, {0x89, 'P', 'N', 'G'})) return read_png(file, limits, sink);
  if (begins(file, {0xFF, 0xD8, 0xFF})) return read_jpeg(file, limits, sink);
  convert::fail("is neither a PNG nor a JPEG");
}

std::vector<float> pixel_values(std::span<const std::byte> file, const std::string& name,
                                const mote_picture_info& info, const Limits& limits) {
  if (info.rescale == 0.0f) {
    convert::fail(
        "the file does not say how pictures become pixel values: it was converted without a "
        "preprocessor_config.json of a known kind");
  }
  if (info.channels != kColours) convert::fail("the model takes {} colours, pictures have 3", info.channels);
  Resampler resampler(shape_of(info), limits);
  try {
    read_rows(file, limits, resampler);
  } catch (const convert::Error& error) {
    convert::fail("{}: {}", name, error.what());
  }
  const std::vector<uint8_t> bytes = resampler.result();
  const size_t plane = size_t{info.height} * info.width;
  std::vector<float> values(plane * kColours);
  for (size_t colour = 0; colour < kColours; ++colour) {
    std::array<float, 256> value_of{};
    for (size_t byte = 0; byte < value_of.size(); ++byte) {
      const float scaled = static_cast<float>(byte) * info.rescale;
      value_of[byte] = (scaled - info.mean[colour]) / info.deviation[colour];
    }
    for (size_t i = 0; i < plane; ++i) values[colour * plane + i] = value_of[bytes[i * kColours + colour]];
  }
  return values;
}

}  // namespace mote::pictures
