// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/quantize_dsp.inl.h"

namespace mote::dsp {

void quantize_f32_q8c(const QuantizeArgs& args, Range rows, void*) {
  ref::each_row(args, rows, [&](uint32_t t, uint32_t padded, int8_t* q, float* scale, int32_t* sum) {
    quantize_columns(args.in[t], args.columns, args.width, padded, q, scale, sum);
  });
}

}  // namespace mote::dsp
#endif
