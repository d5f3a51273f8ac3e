// SPDX-License-Identifier: Apache-2.0
//
// Each group of 32 columns by itself.
#include "kernels/reference/quantize.inl.h"

namespace mote::ref {

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* q = reinterpret_cast<int8_t*>(row);
    auto* scale = reinterpret_cast<float*>(row + activation_scale_offset(args.width));
    auto* sum = reinterpret_cast<int32_t*>(row + activation_sum_offset(args.width));
    for (uint32_t k = 0; k < activation_padded(args.width); k += kGroupColumns) {
      const uint32_t left = k < args.width ? args.width - k : 0;
      const uint32_t n = left < kGroupColumns ? left : kGroupColumns;
      const uint32_t group = k / kGroupColumns;
      quantize_group(args, t, k, n, kGroupColumns, q + k, &scale[group], &sum[group]);
    }
  }
}

}  // namespace mote::ref
