// SPDX-License-Identifier: Apache-2.0
//
// The functions that the quantizers of groups of 32 share. Loops run over whole groups of constant length so
// that they vectorise.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "converter/quantizers/quantizer.h"
#include "schema/f16.h"

namespace mote::convert {

using Group = std::array<float, kGroupColumns>;

inline size_t group_count(size_t columns) { return (columns + kGroupColumns - 1) / kGroupColumns; }

/// Group `index` of a row, filled up with its first value, which stretches no grid.
inline Group group_of(std::span<const float> row, size_t index) {
  const std::span<const float> rest = row.subspan(index * kGroupColumns);
  Group group;
  group.fill(rest[0]);
  std::copy_n(rest.begin(), std::min<size_t>(kGroupColumns, rest.size()), group.begin());
  return group;
}

/// A group and how often the squared error of each element counts.
struct WeighedGroup {
  Group values, weights;
};

/// Group `index` of a row; no importance is the same for all.
inline WeighedGroup weighed_group(std::span<const float> row, std::span<const float> importance,
                                  size_t index) {
  WeighedGroup group{group_of(row, index), {}};
  group.weights.fill(1.0f);
  if (!importance.empty()) group.weights = group_of(importance, index);
  return group;
}

/// To nearest, ties to even, for magnitudes below 2^22: adding 1.5 * 2^23 leaves no room for a fraction.
inline float round_even(float value) { return (value + 12582912.0f) - 12582912.0f; }

/// The nearest of least..most to each value / scale (0 for scale 0).
inline Group round_to_grid(const Group& values, float scale, float offset, float least, float most) {
  const float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;
  Group q;
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = round_even(std::clamp((values[i] - offset) * inverse, least, most));
  }
  return q;
}

/// The sum of term(i) over a group, in eight sums that do not wait for each other.
template <class Term>
inline float sum_of(Term term) {
  constexpr size_t kLanes = 8;
  std::array<float, kLanes> lanes{};
  for (size_t i = 0; i < kGroupColumns; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

/// Sum of weight * (scale * q + offset - value)^2.
inline float squared_error(const WeighedGroup& group, const Group& q, float scale, float offset) {
  return sum_of([&](size_t i) {
    const float error = scale * q[i] + offset - group.values[i];
    return group.weights[i] * (error * error);
  });
}

inline float through_f16(float value) { return f32_from_f16(f16_from_f32(value)); }

/// The nearest f16 to a magnitude; of small ones, whose f16 are far apart, the next above, so that no scale
/// takes too many of the unit.
inline float unit_near(float magnitude) {
  const uint16_t nearest = f16_from_f32(magnitude);
  const bool too_small = f32_from_f16(nearest) * (1.0f + 0x1p-10f) < magnitude;
  return f32_from_f16(static_cast<uint16_t>(too_small ? nearest + 1 : nearest));
}

inline void resize_groups(size_t groups, QuantRow& row, bool minimum) {
  row.q.resize(groups * kGroupColumns);
  row.scale.resize(groups);
  row.minimum.resize(minimum ? groups : 0);
}

/// The sums that a least-squares fit of value = scale * q + minimum takes.
struct LineSums {
  float n, q, qq, v, qv;  // sums of weight, weight * q and so on

  float determinant() const { return n * qq - q * q; }
  float scale() const { return (n * qv - q * v) / determinant(); }
  float minimum(float scale) const { return (v - scale * q) / n; }
};
inline LineSums line_sums(const WeighedGroup& group, const Group& q) {
  const Group &w = group.weights, &v = group.values;
  return {sum_of([&](size_t i) { return w[i]; }), sum_of([&](size_t i) { return w[i] * q[i]; }),
          sum_of([&](size_t i) { return w[i] * q[i] * q[i]; }), sum_of([&](size_t i) { return w[i] * v[i]; }),
          sum_of([&](size_t i) { return w[i] * q[i] * v[i]; })};
}

/// A symmetric grid of one scale and what it loses.
struct ScaledGroup {
  float scale = 0;
  Group q{};
  float error = 0;
};

/// The scale that fits a choice of q best: sum(w q v) / sum(w q q).
inline float fitted_scale(const WeighedGroup& group, const Group& q) {
  const float square = sum_of([&](size_t i) { return group.weights[i] * q[i] * q[i]; });
  if (square == 0.0f) return 0.0f;
  return sum_of([&](size_t i) { return group.weights[i] * q[i] * group.values[i]; }) / square;
}

/// A grid, the steps of the scales that are tried, and how often the best is fitted.
struct ScaleGrid {
  float least, most;
  std::span<const float> steps;
  bool lopsided;  // scales of both signs are tried
  int fits;       // since a new scale can change the choice of q, a second may better the first
};
ScaledGroup best_scale(const WeighedGroup& group, const ScaleGrid& grid);

void store_group(size_t group, const Group& q, float scale, QuantRow& out);

/// Every group of a row with its best scale.
void encode_symmetric(std::span<const float> row, std::span<const float> importance, const ScaleGrid& grid,
                      EncodedRow& out);

/// value = scale * q for every group.
void decode_symmetric(const EncodedRow& row, std::span<float> out);

}  // namespace mote::convert
