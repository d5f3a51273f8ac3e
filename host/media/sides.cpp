// SPDX-License-Identifier: Apache-2.0
#include "host/media/sides.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"

namespace mote::pictures {
namespace {

constexpr uint32_t kLongestSide = 4096;  // of Idefics3
constexpr double kLargestRatio = 200;    // of Qwen2-VL

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

Sides bounded_sides(uint32_t height, uint32_t width, uint32_t shortest, uint32_t longest, uint32_t unit) {
  // In doubles and in the original's order, which decides how halves and thirds are rounded.
  const double most = std::max(height, width), least = std::min(height, width);
  double exact = shortest;
  uint32_t side = shortest;
  if (most / least * shortest > longest) {
    exact = longest * least / most;
    side = static_cast<uint32_t>(std::nearbyint(exact));  // to even at a half, as Python rounds
  }
  Sides sides{side, side};
  if (width < height) {
    sides.height = static_cast<uint32_t>(exact * height / width);
  } else if (height == side) {
    sides.width = width;
  } else {
    sides.width = static_cast<uint32_t>(exact * width / height);
  }
  return {sides.height / unit * unit, sides.width / unit * unit};
}

}  // namespace mote::pictures
