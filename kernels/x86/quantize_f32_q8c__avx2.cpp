// SPDX-License-Identifier: Apache-2.0
//
// Each row by itself, in two passes over it: the largest magnitude, then the bytes; the second finds the row
// in L1 or L2. Equal to the reference bitwise.
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote::avx2 {
namespace {

RowScale quantize_row(const float* in, const float* columns, size_t width, char* q) {
  __m256i bits = _mm256_setzero_si256();
  for (size_t column = 0; column < width; column += kGroupColumns) {
    __m256 x[kGroupVectors];
    load_group(in, columns, width, column, x);
    bits = _mm256_max_epi32(bits, largest_bits(x));
  }
  const GroupScale row = scale_of(max_lanes(bits));
  const size_t padded = static_cast<size_t>(activation_padded(width));
  if (row.inverse == 0.0f) {
    memset(q, 0, padded);
    return {row.scale, 0};
  }
  const __m256 inverse = _mm256_set1_ps(row.inverse);
  __m256i sum = _mm256_setzero_si256();
  for (size_t column = 0; column < padded; column += kGroupColumns) {
    __m256 x[kGroupVectors];
    load_group(in, columns, width, column, x);
    const __m256i bytes = round_to_bytes(x, inverse);
    _mm256_store_si256(reinterpret_cast<__m256i*>(q + column), bytes);
    sum = _mm256_add_epi32(sum, sum_bytes(bytes));
  }
  return {row.scale, sum_lanes(sum)};
}

}  // namespace

void quantize_f32_q8c(const QuantizeArgs& args, Range rows, void*) {
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    char* out = static_cast<char*>(args.out) + row * args.out_stride_bytes;
    const RowScale scale = quantize_row(args.in[row], args.columns, args.width, out);
    memcpy(out + activation_scale_offset(args.width), &scale, sizeof scale);
  }
}

}  // namespace mote::avx2
