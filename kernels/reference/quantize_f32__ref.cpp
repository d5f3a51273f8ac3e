// SPDX-License-Identifier: Apache-2.0
//
// Per group of 32 columns: scale = absmax / 127, q = round to nearest even(x * (127 / absmax)), sum = sum of
// q.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

/// x [n], n <= 32, the rest of the group being 0; q [32].
void quantize_group(const float* x, uint32_t n, int8_t* q, float* scale, int32_t* sum) {
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
  for (uint32_t i = 0; i < kGroupColumns; ++i) {
    q[i] = zero || i >= n ? int8_t{0} : static_cast<int8_t>(rintf(x[i] * inverse));
    *sum += q[i];
  }
}

}  // namespace

void quantize_f32(const QuantizeArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* q = reinterpret_cast<int8_t*>(row);
    auto* scale = reinterpret_cast<float*>(row + activation_scale_offset(args.width));
    auto* sum = reinterpret_cast<int32_t*>(row + activation_sum_offset(args.width));
    for (uint32_t k = 0; k < activation_padded(args.width); k += kGroupColumns) {
      const uint32_t left = k < args.width ? args.width - k : 0;
      const uint32_t n = left < kGroupColumns ? left : kGroupColumns;
      quantize_group(args.in[t] + k, n, q + k, &scale[k / kGroupColumns], &sum[k / kGroupColumns]);
    }
  }
}

}  // namespace mote::ref
