// SPDX-License-Identifier: Apache-2.0
//
// 6 bits with a scale per 16, a multiple from -128 to 127 of a unit per 256. Each half of a group is fitted
// alone, as a group that has its columns twice; the unit is the largest scale over 127, and each half takes
// the multiple next to its own that loses least.
#include "converter/quantizers/grid.h"

namespace mote::convert::q6k {
namespace {

constexpr float kLeast = -32;
constexpr float kMost = 31;
constexpr float kMostSteps = 127;
constexpr size_t kHalf = kGroupColumns / 2;
constexpr size_t kHalves = 2 * kWideGroups;
constexpr std::array<float, 5> kSteps = {31.0f, 31.5f, 32.0f, 33.0f, 34.0f};

WeighedGroup half_twice(std::span<const float> row, std::span<const float> importance, size_t half) {
  WeighedGroup group = weighed_group(row, importance, half / 2);
  for (Group* of : {&group.values, &group.weights})
    std::copy_n(of->begin() + half % 2 * kHalf, kHalf, of->begin() + (1 - half % 2) * kHalf);
  return group;
}

ScaledGroup on_grid(const WeighedGroup& group, float scale) {
  ScaledGroup result;
  result.scale = scale;
  result.q = round_to_grid(group.values, scale, 0.0f, kLeast, kMost);
  result.error = squared_error(group, result.q, scale, 0.0f);
  return result;
}

float best_scale(const WeighedGroup& group) {
  float largest = 0;
  for (const float value : group.values) largest = std::max(largest, std::fabs(value));
  ScaledGroup best = on_grid(group, largest / kSteps[0]);
  const auto consider = [&](float scale) {
    const ScaledGroup candidate = on_grid(group, scale);
    if (candidate.error < best.error) best = candidate;
  };
  for (const float steps : kSteps) {
    consider(largest / steps);
    consider(-largest / steps);
  }
  consider(fitted_scale(group, best.q));
  return best.scale;
}

/// Halves [first, end), which share the unit in out.scale.
void encode_halves(std::span<const float> row, std::span<const float> importance, size_t first, size_t end,
                   QuantRow& out) {
  std::array<float, kHalves> scales{};
  float largest = 0;
  for (size_t h = first; h < end; ++h) {
    scales[h - first] = best_scale(half_twice(row, importance, h));
    largest = std::max(largest, std::fabs(scales[h - first]));
  }
  const float unit = unit_near(largest / kMostSteps);
  out.scale.push_back(f16_from_f32(unit));
  for (size_t h = first; h < end; ++h) {
    const WeighedGroup group = half_twice(row, importance, h);
    const float middle =
        unit == 0.0f ? 0.0f : std::clamp(round_even(scales[h - first] / unit), -127.0f, 126.0f);
    float steps = middle;
    ScaledGroup best = on_grid(group, unit * middle);
    for (const float other : {middle - 1, middle + 1}) {
      const ScaledGroup candidate = on_grid(group, unit * other);
      if (candidate.error >= best.error) continue;
      best = candidate;
      steps = other;
    }
    out.scale_steps.push_back(static_cast<int8_t>(steps));
    for (size_t i = 0; i < kHalf; ++i) out.q.push_back(static_cast<int8_t>(best.q[i]));
  }
}

}  // namespace

void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out) {
  out.quant = {};
  const size_t halves = 2 * group_count(row.size());
  for (size_t first = 0; first < halves; first += kHalves)
    encode_halves(row, importance, first, std::min(halves, first + kHalves), out.quant);
}

void decode(const EncodedRow& row, std::span<float> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    const float scale = f32_from_f16(row.quant.scale[k / kWideColumns]) *
                        static_cast<float>(row.quant.scale_steps[k / kHalf]);
    out[k] = scale * static_cast<float>(row.quant.q[k]);
  }
}

}  // namespace mote::convert::q6k
