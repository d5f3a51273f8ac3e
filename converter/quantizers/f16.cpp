// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantizers/quantizer.h"
#include "schema/f16.h"

namespace mote::convert::f16 {

void encode(std::span<const float> row, std::span<const float>, EncodedRow& out) {
  out.values.resize(row.size());
  std::transform(row.begin(), row.end(), out.values.begin(),
                 [](float value) { return f32_from_f16(f16_from_f32(value)); });
}

void decode(const EncodedRow& row, std::span<float> out) {
  std::copy_n(row.values.begin(), out.size(), out.begin());
}

}  // namespace mote::convert::f16
