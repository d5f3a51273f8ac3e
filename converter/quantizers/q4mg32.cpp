// SPDX-License-Identifier: Apache-2.0
//
// 4 bits with a scale and a minimum per 32: value = scale * q + minimum, q 0..15. Grids from the smallest to
// the largest value and narrower ones are tried, each followed by a least-squares fit of scale and minimum.
// Grids of fewer steps come last: a group dequantized from a file's own 4-bit grid may not have used its
// ends. Bound: half a step of the full range.
#include "converter/quantizers/grid.h"

namespace mote::convert::q4mg32 {
namespace {

constexpr float kMost = 15;

struct Fit {
  float scale = 0;
  float minimum = 0;
  Group q{};
  float error = 0;
};

/// Scale and minimum are rounded to f16 before q is chosen.
Fit try_grid(const WeighedGroup& group, float scale, float minimum) {
  Fit fit;
  fit.scale = through_f16(scale);
  fit.minimum = through_f16(minimum);
  fit.q = round_to_grid(group.values, fit.scale, fit.minimum, 0.0f, kMost);
  fit.error = squared_error(group, fit.q, fit.scale, fit.minimum);
  return fit;
}

/// Least squares of scale and minimum for the q of a fit; the same fit where all q are equal.
Fit refit(const WeighedGroup& group, const Fit& fit) {
  const LineSums sums = line_sums(group, fit.q);
  if (sums.determinant() == 0.0f) return fit;
  const float scale = sums.scale();
  return try_grid(group, scale, sums.minimum(scale));
}

Fit best_of(const WeighedGroup& group) {
  const auto [least, most] = std::minmax_element(group.values.begin(), group.values.end());
  const float low = *least;
  const float range = *most - *least;
  Fit best = try_grid(group, range / kMost, low);
  const auto consider = [&](const Fit& candidate) {
    if (candidate.error < best.error) best = candidate;
  };
  constexpr std::array<float, 4> kShrinks = {0.95f, 0.9f, 0.85f, 0.8f};
  consider(refit(group, best));
  for (const float shrink : kShrinks) {
    const Fit narrow = try_grid(group, shrink * range / kMost, low + 0.5f * (1.0f - shrink) * range);
    consider(narrow);
    consider(refit(group, narrow));
  }
  for (float steps = kMost - 1; steps >= 7; --steps) consider(try_grid(group, range / steps, low));
  consider(refit(group, best));
  return best;
}

}  // namespace

void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out) {
  const size_t groups = group_count(row.size());
  resize_groups(groups, out.quant, true);
  for (size_t g = 0; g < groups; ++g) {
    const Fit best = best_of(weighed_group(row, importance, g));
    store_group(g, best.q, best.scale, out.quant);
    out.quant.minimum[g] = f16_from_f32(best.minimum);
  }
}

void decode(const EncodedRow& row, std::span<float> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    const size_t group = k / kGroupColumns;
    out[k] = f32_from_f16(row.quant.scale[group]) * static_cast<float>(row.quant.q[k]) +
             f32_from_f16(row.quant.minimum[group]);
  }
}

}  // namespace mote::convert::q4mg32
