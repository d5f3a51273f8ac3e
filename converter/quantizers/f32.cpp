// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantizers/quantizer.h"

namespace mote::convert::f32 {

void encode(std::span<const float> row, std::span<const float>, EncodedRow& out) {
  out.values.assign(row.begin(), row.end());
}

void decode(const EncodedRow& row, std::span<float> out) {
  std::copy_n(row.values.begin(), out.size(), out.begin());
}

}  // namespace mote::convert::f32
