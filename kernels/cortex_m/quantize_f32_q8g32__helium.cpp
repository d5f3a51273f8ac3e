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
  const auto padded = static_cast<uint32_t>(activation_padded(args.width));
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    char* row = static_cast<char*>(args.out) + t * args.out_stride_bytes;
    auto* q = reinterpret_cast<int8_t*>(row);
    auto* scale = reinterpret_cast<float*>(row + activation_scale_offset(args.width));
    auto* sum = reinterpret_cast<int32_t*>(row + activation_sum_offset(args.width));
    for (uint32_t k = 0; k < padded; k += kGroupColumns, ++scale, ++sum) {
      const uint32_t left = k < args.width ? args.width - k : 0;
      const float* columns = args.columns == nullptr ? nullptr : args.columns + k;
      if (columns == nullptr && left >= kGroupColumns) {
        quantize_group(args.in[t] + k, q + k, scale, sum);
      } else {
        const uint32_t n = left < kGroupColumns ? left : kGroupColumns;
        dsp::quantize_columns(args.in[t] + k, columns, n, kGroupColumns, q + k, scale, sum);
      }
    }
  }
}

}  // namespace mote::helium
#endif
