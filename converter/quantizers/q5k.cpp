// SPDX-License-Identifier: Apache-2.0
//
// 5 bits with a scale and a minimum per 32, multiples of units per 256: value = scale * q + minimum, q 0..31.
#include "converter/quantizers/wide_grid.h"

namespace mote::convert::q5k {

void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out) {
  encode_wide(row, importance, 31, out);
}

void decode(const EncodedRow& row, std::span<float> out) { decode_wide(row, out); }

}  // namespace mote::convert::q5k
