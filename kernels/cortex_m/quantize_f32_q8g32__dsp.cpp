// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/quantize_dsp.inl.h"

namespace mote::dsp {

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  const auto padded = static_cast<uint32_t>(activation_padded(args.width));
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* q = reinterpret_cast<int8_t*>(row);
    auto* scale = reinterpret_cast<float*>(row + activation_scale_offset(args.width));
    auto* sum = reinterpret_cast<int32_t*>(row + activation_sum_offset(args.width));
    for (uint32_t k = 0; k < padded; k += kGroupColumns) {
      const uint32_t left = k < args.width ? args.width - k : 0;
      const uint32_t n = left < kGroupColumns ? left : kGroupColumns;
      const float* columns = args.columns == nullptr ? nullptr : args.columns + k;
      quantize_columns(args.in[t] + k, columns, n, kGroupColumns, q + k, scale++, sum++);
    }
  }
}

}  // namespace mote::dsp
#endif
