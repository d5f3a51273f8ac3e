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
///
/// In q4k and q5k scales and minima are units per 256: value(k) = scale[k / 256] * scale_steps[k / 32] * q[k]
/// + minimum[k / 256] * minimum_steps[k / 32], steps 0..63, q 0..15 or 0..31. In q6k value(k) = scale[k /
/// 256] * scale_steps[k / 16] * q[k], q -32..31.
struct QuantRow {
  std::vector<int8_t> q;
  std::vector<uint16_t> scale;                     // empty in q8c
  std::vector<uint16_t> minimum;                   // empty but for q4mg32, q4k and q5k
  std::vector<int8_t> scale_steps, minimum_steps;  // of q4k, q5k and q6k
  float row_scale = 0;                             // q8c only
};

}  // namespace mote::convert
