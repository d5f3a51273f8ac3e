// SPDX-License-Identifier: Apache-2.0
//
// As quantize_dsp.inl.h, bit for bit: largest magnitudes are compared as integers. Vectors of floats take
// subnormals as 0, which quantize to 0 in a group whose scale is not 0; products with columns could become
// another scale, so they are left to scalars, as a group is that has fewer than 32 columns.
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/floats_helium.inl.h"

namespace mote::helium {
namespace {

void quantize_group(const float* x, int8_t* q, float* scale, int32_t* sum) {
  const ref::GroupScale group = group_scale(x, kGroupColumns);
  int32_t total = 0;
  for (uint32_t i = 0; i < kGroupColumns; i += 4) {
    const int32x4_t rounded = quantized(x + i, group.inverse);
    vstrbq_s32(q + i, rounded);
    total = vaddvaq_s32(total, rounded);
  }
  *scale = group.scale;
  *sum = total;
}

}  // namespace

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  ref::each_group(args, rows, [&](uint32_t t, uint32_t k, uint32_t n, int8_t* q, float* scale, int32_t* sum) {
    const float* columns = args.columns == nullptr ? nullptr : args.columns + k;
    if (columns == nullptr && n == kGroupColumns) {
      quantize_group(args.in[t] + k, q, scale, sum);
    } else {
      dsp::quantize_columns(args.in[t] + k, columns, n, kGroupColumns, q, scale, sum);
    }
  });
}

}  // namespace mote::helium
#endif
