// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/grid.h"

namespace mote::convert {

void store_group(size_t group, const Group& q, float scale, QuantRow& out) {
  out.scale[group] = f16_from_f32(scale);
  for (size_t i = 0; i < q.size(); ++i) out.q[group * kGroupColumns + i] = static_cast<int8_t>(q[i]);
}

void decode_symmetric(const EncodedRow& row, std::span<float> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    out[k] = f32_from_f16(row.quant.scale[k / kGroupColumns]) * static_cast<float>(row.quant.q[k]);
  }
}

}  // namespace mote::convert
