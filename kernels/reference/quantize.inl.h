// SPDX-License-Identifier: Apache-2.0
//
// What quantizing does to a group, be it 32 columns or a row.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

/// Column k of a row as it is quantized.
static inline float quantized_value(const QuantizeArgs& args, uint32_t row, uint32_t k) {
  return args.columns == nullptr ? args.in[row][k] : args.in[row][k] * args.columns[k];
}

/// scale = absmax / 127, q = round to nearest even(x * (127 / absmax)), sum = sum of q, where x are the n
/// columns of a row from `first` on. q [padded], n <= padded, the rest being 0.
static inline void quantize_group(const QuantizeArgs& args, uint32_t row, uint32_t first, uint32_t n,
                                  uint32_t padded, int8_t* q, float* scale, int32_t* sum) {
  float absmax = 0.0f;
  bool finite = true;
  for (uint32_t i = 0; i < n; ++i) {
    const float x = quantized_value(args, row, first + i);
    finite = finite && isfinite(x);
    absmax = fmaxf(absmax, fabsf(x));
  }
  const bool zero = !finite || absmax < 0x1p-100f;
  const float inverse = zero ? 0.0f : 127.0f / absmax;
  *scale = !finite ? NAN : zero ? 0.0f : absmax / 127.0f;
  *sum = 0;
  for (uint32_t i = 0; i < padded; ++i) {
    const bool empty = zero || i >= n;
    q[i] = empty ? int8_t{0} : static_cast<int8_t>(rintf(quantized_value(args, row, first + i) * inverse));
    *sum += q[i];
  }
}

}  // namespace mote::ref
