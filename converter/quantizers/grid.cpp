// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/grid.h"

namespace mote::convert {
namespace {

/// The candidate with the scale rounded to f16 before q is chosen.
ScaledGroup try_scale(const WeighedGroup& group, float scale, float least, float most) {
  ScaledGroup result;
  result.scale = through_f16(scale);
  result.q = round_to_grid(group.values, result.scale, 0.0f, least, most);
  result.error = squared_error(group, result.q, result.scale, 0.0f);
  return result;
}

/// The symmetric grid least..most that loses least of a group, of the scales tried.
class ScaleSearch {
 public:
  /// Tries the scale that has the largest magnitude at `steps`.
  ScaleSearch(const WeighedGroup& group, float steps, float least, float most)
      : group_(group), least_(least), most_(most) {
    for (const float value : group.values) largest_ = std::max(largest_, std::fabs(value));
    best_ = try_scale(group, largest_ / steps, least, most);
  }
  /// Tries the scale for other steps; below 0 the signs of the grid are exchanged.
  void try_steps(float steps) { consider(largest_ / steps); }
  /// The least-squares scale of the best choice of q so far.
  void fit() { consider(fitted_scale(group_, best_.q)); }
  const ScaledGroup& best() const { return best_; }

 private:
  void consider(float scale) {
    const ScaledGroup candidate = try_scale(group_, scale, least_, most_);
    if (candidate.error < best_.error) best_ = candidate;
  }

  const WeighedGroup& group_;
  float least_, most_, largest_ = 0;
  ScaledGroup best_;
};

}  // namespace

ScaledGroup best_scale(const WeighedGroup& group, const ScaleGrid& grid) {
  ScaleSearch search(group, grid.steps[0], grid.least, grid.most);
  if (grid.lopsided) search.try_steps(-grid.steps[0]);
  for (const float steps : grid.steps.subspan(1)) {
    search.try_steps(steps);
    if (grid.lopsided) search.try_steps(-steps);
  }
  for (int i = 0; i < grid.fits; ++i) search.fit();
  return search.best();
}

void store_group(size_t group, const Group& q, float scale, QuantRow& out) {
  out.scale[group] = f16_from_f32(scale);
  for (size_t i = 0; i < q.size(); ++i) out.q[group * kGroupColumns + i] = static_cast<int8_t>(q[i]);
}

void encode_symmetric(std::span<const float> row, std::span<const float> importance, const ScaleGrid& grid,
                      EncodedRow& out) {
  const size_t groups = group_count(row.size());
  resize_groups(groups, out.quant, false);
  for (size_t g = 0; g < groups; ++g) {
    const ScaledGroup best = best_scale(weighed_group(row, importance, g), grid);
    store_group(g, best.q, best.scale, out.quant);
  }
}

void decode_symmetric(const EncodedRow& row, std::span<float> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    out[k] = f32_from_f16(row.quant.scale[k / kGroupColumns]) * static_cast<float>(row.quant.q[k]);
  }
}

}  // namespace mote::convert
