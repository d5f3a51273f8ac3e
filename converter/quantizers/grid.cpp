// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/grid.h"

namespace mote::convert {

void store_group(size_t group, const Group& q, float scale, QuantRow& out) {
  out.scale[group] = f16_from_f32(scale);
  for (size_t i = 0; i < q.size(); ++i) out.q[group * kGroupColumns + i] = static_cast<int8_t>(q[i]);
}

void encode_symmetric(std::span<const float> row, std::span<const float> importance,
                      ScaledGroup (*best_of)(const WeighedGroup&), EncodedRow& out) {
  const size_t groups = group_count(row.size());
  resize_groups(groups, out.quant, false);
  for (size_t g = 0; g < groups; ++g) {
    const ScaledGroup best = best_of(weighed_group(row, importance, g));
    store_group(g, best.q, best.scale, out.quant);
  }
}

void decode_symmetric(const EncodedRow& row, std::span<float> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    out[k] = f32_from_f16(row.quant.scale[k / kGroupColumns]) * static_cast<float>(row.quant.q[k]);
  }
}

}  // namespace mote::convert
