// SPDX-License-Identifier: Apache-2.0
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/quantize_dsp.inl.h"

namespace mote::dsp {

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  ref::each_group(args, rows, [&](uint32_t t, uint32_t k, uint32_t n, int8_t* q, float* scale, int32_t* sum) {
    const float* columns = args.columns == nullptr ? nullptr : args.columns + k;
    quantize_columns(args.in[t] + k, columns, n, kGroupColumns, q, scale, sum);
  });
}

}  // namespace mote::dsp
#endif
