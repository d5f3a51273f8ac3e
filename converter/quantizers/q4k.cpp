// SPDX-License-Identifier: Apache-2.0
//
// 4 bits with a scale and a minimum per 32, multiples of units per 256: value = scale * q + minimum, q 0..15.
#include "converter/quantizers/wide_grid.h"

namespace mote::convert::q4k {

void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out) {
  encode_wide(row, importance, 15, out);
}

void decode(const EncodedRow& row, std::span<float> out) { decode_wide(row, out); }

}  // namespace mote::convert::q4k
