// SPDX-License-Identifier: Apache-2.0
//
// Each group of 32 columns by itself. Equal to the reference bitwise.
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote::avx2 {
namespace {

void quantize_group(const __m256 x[kGroupVectors], int8_t* q, float* scale, int32_t* sum) {
  const GroupScale group = scale_of(max_lanes(largest_bits(x)));
  __m256i bytes = _mm256_setzero_si256();
  if (group.inverse != 0.0f) bytes = round_to_bytes(x, _mm256_set1_ps(group.inverse));
  _mm256_store_si256(reinterpret_cast<__m256i*>(q), bytes);
  *scale = group.scale;
  *sum = sum_lanes(sum_bytes(bytes));
}

void quantize_row(const float* in, const float* columns, uint32_t width, char* out) {
  auto* q = reinterpret_cast<int8_t*>(out);
  auto* scale = reinterpret_cast<float*>(out + activation_scale_offset(width));
  auto* sum = reinterpret_cast<int32_t*>(out + activation_sum_offset(width));
  const size_t groups = activation_padded(width) / kGroupColumns;
  for (size_t group = 0; group < groups; ++group) {
    const size_t column = group * kGroupColumns;
    __m256 x[kGroupVectors];
    load_group(in, columns, width, column, x);
    quantize_group(x, q + column, scale + group, sum + group);
  }
}

}  // namespace

void quantize_f32_q8g32(const QuantizeArgs& args, Range rows, void*) {
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    char* out = static_cast<char*>(args.out) + row * args.out_stride_bytes;
    quantize_row(args.in[row], args.columns, args.width, out);
  }
}

}  // namespace mote::avx2
