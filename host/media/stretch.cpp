// SPDX-License-Identifier: Apache-2.0
#include "host/media/stretch.h"

#include <algorithm>
#include <cmath>

namespace mote::pictures {
namespace {

constexpr float kCubic = -0.75f;

/// Return the weights of a neighbour closer than 1, and of one closer than 2 (Keys 1981).
float near_weight(float x) { return ((kCubic + 2) * x - (kCubic + 3)) * x * x + 1; }
float far_weight(float x) { return ((kCubic * x - 5 * kCubic) * x + 8 * kCubic) * x - 4 * kCubic; }

}  // namespace

Stretch::Stretch(std::span<const float> map, Sides from, Sides to)
    : map_(map), from_(from), to_(to), line_(from.width) {
  for (uint32_t x = 0; x < to.width; ++x) across_.push_back(taps_of(x, from.width, to.width));
}

Stretch::Taps Stretch::taps_of(uint32_t place, uint32_t from, uint32_t to) {
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  const float at = scale * (static_cast<float>(place) + 0.5f) - 0.5f, first = std::floor(at), t = at - first;
  Taps taps{{}, {far_weight(t + 1), near_weight(t), near_weight(1 - t), far_weight(2 - t)}};
  for (int i = 0; i < 4; ++i) {
    const float neighbour = std::clamp(first + static_cast<float>(i - 1), 0.0f, static_cast<float>(from - 1));
    taps.at[i] = static_cast<uint32_t>(neighbour);
  }
  return taps;
}

void Stretch::row(uint32_t y, float* out) {
  const Taps down = taps_of(y, from_.height, to_.height);
  std::fill(line_.begin(), line_.end(), 0.0f);
  for (int i = 0; i < 4; ++i) {
    const float* from = map_.data() + size_t{down.at[i]} * from_.width;
    for (uint32_t x = 0; x < from_.width; ++x) line_[x] += down.weights[i] * from[x];
  }
  for (uint32_t x = 0; x < to_.width; ++x) {
    const Taps& taps = across_[x];
    out[x] = 0;
    for (int i = 0; i < 4; ++i) out[x] += taps.weights[i] * line_[taps.at[i]];
  }
}

}  // namespace mote::pictures
