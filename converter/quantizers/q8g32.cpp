// SPDX-License-Identifier: Apache-2.0
//
// int8 with a scale per 32: the best of a few scales around absmax / 127, which costs little and takes the
// worst of the scale's own rounding away, then one least-squares fit. Bound: the first candidate's half step.
#include "converter/quantizers/grid.h"

namespace mote::convert::q8g32 {
namespace {

constexpr float kLeast = -127;
constexpr float kMost = 127;
constexpr std::array<float, 5> kSteps = {127.0f, 126.5f, 126.0f, 127.5f, 128.0f};

ScaledGroup best_of(const Group& values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  ScaledGroup best = try_scale(values, largest / kSteps[0], kLeast, kMost);
  const auto consider = [&](float scale) {
    const ScaledGroup candidate = try_scale(values, scale, kLeast, kMost);
    if (candidate.error < best.error) best = candidate;
  };
  for (size_t i = 1; i < kSteps.size(); ++i) consider(largest / kSteps[i]);
  consider(fitted_scale(values, best.q));
  return best;
}

}  // namespace

void encode(std::span<const float> row, EncodedRow& out) {
  const size_t groups = group_count(row.size());
  resize_groups(groups, out.quant, false);
  for (size_t g = 0; g < groups; ++g) {
    const ScaledGroup best = best_of(group_of(row, g));
    store_group(g, best.q, best.scale, out.quant);
  }
}

void decode(const EncodedRow& row, std::span<float> out) { decode_symmetric(row, out); }

}  // namespace mote::convert::q8g32
