// SPDX-License-Identifier: Apache-2.0
#include "pictures/fitted.h"

#include <algorithm>
#include <cmath>

#include "converter/error.h"

namespace mote::pictures {
namespace {

constexpr uint32_t kLongestSide = 4096;  // of Idefics3
constexpr double kLargestRatio = 200;    // of Qwen2-VL

Shape shape_of(Sides sides, Filter filter) {
  return {sides.height, sides.width, 0, 0, sides.height, sides.width, filter};
}

uint32_t round_up(uint32_t side, uint32_t unit) { return (side + unit - 1) / unit * unit; }

}  // namespace

Sides rounded_sides(uint32_t height, uint32_t width, uint32_t unit, uint32_t least, uint32_t most) {
  const double h = height, w = width, u = unit;
  if (std::max(h, w) / std::min(h, w) > kLargestRatio)
    convert::fail("a picture of {} x {} pixels has a side more than {} times the other", width, height,
                  kLargestRatio);
  // To even at a half, as Python rounds.
  double rows = std::nearbyint(h / u) * u, columns = std::nearbyint(w / u) * u;
  if (rows * columns > most) {
    const double shrink = std::sqrt(h * w / most);
    rows = std::max(u, std::floor(h / shrink / u) * u);
    columns = std::max(u, std::floor(w / shrink / u) * u);
  } else if (rows * columns < least) {
    const double grow = std::sqrt(least / (h * w));
    rows = std::ceil(h * grow / u) * u;
    columns = std::ceil(w * grow / u) * u;
  }
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
}

Sides longest_sides(uint32_t height, uint32_t width, uint32_t longest) {
  const double ratio = static_cast<double>(width) / height;
  const auto even = [](double side) {
    const auto whole = static_cast<uint32_t>(side);
    return std::max(1u, whole + whole % 2);
  };
  Sides sides =
      width >= height ? Sides{even(longest / ratio), longest} : Sides{longest, even(longest * ratio)};
  const double kept = static_cast<double>(sides.width) / sides.height;
  if (sides.width >= sides.height && sides.width > kLongestSide)
    sides = {static_cast<uint32_t>(kLongestSide / kept), kLongestSide};
  else if (sides.height > sides.width && sides.height > kLongestSide)
    sides = {kLongestSide, static_cast<uint32_t>(kLongestSide * kept)};
  return {std::max(sides.height, 1u), std::max(sides.width, 1u)};
}

Sides tiled_sides(uint32_t height, uint32_t width, uint32_t tile) {
  const double ratio = static_cast<double>(width) / height;
  if (width >= height) {
    const uint32_t columns = round_up(width, tile);
    return {round_up(static_cast<uint32_t>(columns / ratio), tile), columns};
  }
  const uint32_t rows = round_up(height, tile);
  return {rows, round_up(static_cast<uint32_t>(rows * ratio), tile)};
}

Raster resized_to(const Raster& picture, Sides sides, Filter filter, const Limits& limits) {
  if (picture.height == sides.height && picture.width == sides.width) return picture;
  Resampler resampler(shape_of(sides, filter), limits);
  resampler.begin(picture.width, picture.height);
  for (uint32_t y = 0; y < picture.height; ++y)
    resampler.row(picture.pixels.data() + size_t{y} * picture.width * kColours);
  return {sides.height, sides.width, resampler.result()};
}

void FittedResampler::begin(uint32_t width, uint32_t height) {
  sides_ = info_.tile != 0 ? longest_sides(height, width, info_.longest)
                           : rounded_sides(height, width, info_.patch * info_.merge, info_.least_pixels,
                                           info_.most_pixels);
  resampler_.emplace(shape_of(sides_, filter_), limits_);
  resampler_->begin(width, height);
}

}  // namespace mote::pictures
