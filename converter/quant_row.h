// SPDX-License-Identifier: Apache-2.0
//
// One weight row in a quantized type, before packing.
#pragma once

#include <cstdint>
#include <vector>

namespace mote::convert {

/// value(k) = scale[k / 32] * q[k] + minimum[k / 32], the scales and minima f16. In q8g32 q is -128..127 and
/// in q4g32 -8..7, both without minimum; in q4mg32 q is 0..15. In q8c value(k) = row_scale * q[k], q
/// -128..127.
struct QuantRow {
  std::vector<int8_t> q;
  std::vector<uint16_t> scale;    // empty in q8c
  std::vector<uint16_t> minimum;  // empty but for q4mg32
  float row_scale = 0;            // q8c only
};

}  // namespace mote::convert
