// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/quantize_dsp.inl.h"

namespace mote::dsp {

void quantize_f32_q8c(const QuantizeArgs& args, Range rows, void*) {
  const auto padded = static_cast<uint32_t>(activation_padded(args.width));
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* of_row = reinterpret_cast<RowScale*>(row + activation_scale_offset(args.width));
    quantize_columns(args.in[t], args.columns, args.width, padded, reinterpret_cast<int8_t*>(row),
                     &of_row->scale, &of_row->sum);
  }
}

}  // namespace mote::dsp
#endif
