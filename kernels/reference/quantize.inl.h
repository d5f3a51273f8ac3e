// SPDX-License-Identifier: Apache-2.0
//
// What quantizing does to a group, be it 32 columns or a row.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

/// scale = absmax / 127, q = round to nearest even(x * (127 / absmax)), sum = sum of q. x [n], q [padded], n
/// <= padded, the rest being 0.
static inline void quantize_group(const float* x, uint32_t n, uint32_t padded, int8_t* q, float* scale,
                                  int32_t* sum) {
  float absmax = 0.0f;
  bool finite = true;
  for (uint32_t i = 0; i < n; ++i) {
    finite = finite && isfinite(x[i]);
    absmax = fmaxf(absmax, fabsf(x[i]));
  }
  const bool zero = !finite || absmax < 0x1p-100f;
  const float inverse = zero ? 0.0f : 127.0f / absmax;
  *scale = !finite ? NAN : zero ? 0.0f : absmax / 127.0f;
  *sum = 0;
  for (uint32_t i = 0; i < padded; ++i) {
    q[i] = zero || i >= n ? int8_t{0} : static_cast<int8_t>(rintf(x[i] * inverse));
    *sum += q[i];
  }
}

}  // namespace mote::ref
