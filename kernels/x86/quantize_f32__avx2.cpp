// SPDX-License-Identifier: Apache-2.0
//
// Quantize: per group of 32 columns, scale = absmax / 127, q = round to nearest even(x * (127 / absmax)), and
// the sum of q. Equal to the reference bitwise.
#include <immintrin.h>
#include <string.h>

#include "kernels/ops.h"

namespace mote::avx2 {
namespace {

/// Bits of |x|, which order as integers do: finite < infinity < NaN.
__m256i magnitude_bits(__m256 x) {
  return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
}

int32_t largest(__m256i x) {
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, _MM_SHUFFLE(1, 0, 3, 2)));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, _MM_SHUFFLE(2, 3, 0, 1)));
  return _mm_cvtsi128_si32(m);
}

/// 32 products, rounded, in order. packs interleaves the lanes of its operands; the permutation undoes it.
__m256i round_to_bytes(const __m256 x[4], __m256 inverse) {
  __m256i q[4];
  for (int i = 0; i < 4; ++i) q[i] = _mm256_cvtps_epi32(_mm256_mul_ps(x[i], inverse));
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

int32_t sum_bytes(__m256i q) {
  const __m256i words = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), q), _mm256_set1_epi16(1));
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(1, 0, 3, 2)));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(2, 3, 0, 1)));
  return _mm_cvtsi128_si32(s);
}

void quantize_group(const float* in, int8_t* q, float* scale, int32_t* sum) {
  __m256 x[4];
  for (int i = 0; i < 4; ++i) x[i] = _mm256_loadu_ps(in + 8 * i);
  const int32_t bits =
      largest(_mm256_max_epi32(_mm256_max_epi32(magnitude_bits(x[0]), magnitude_bits(x[1])),
                               _mm256_max_epi32(magnitude_bits(x[2]), magnitude_bits(x[3]))));
  float absmax;
  memcpy(&absmax, &bits, 4);
  const bool finite = bits < 0x7F800000;
  if (!finite || absmax < 0x1p-100f) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(q), _mm256_setzero_si256());
    *scale = finite ? 0.0f : __builtin_nanf("");
    *sum = 0;
    return;
  }
  const __m256i bytes = round_to_bytes(x, _mm256_set1_ps(127.0f / absmax));
  _mm256_store_si256(reinterpret_cast<__m256i*>(q), bytes);
  *scale = absmax / 127.0f;
  *sum = sum_bytes(bytes);
}

void quantize_row(const float* in, uint32_t width, char* out) {
  auto* q = reinterpret_cast<int8_t*>(out);
  auto* scale = reinterpret_cast<float*>(out + activation_scale_offset(width));
  auto* sum = reinterpret_cast<int32_t*>(out + activation_sum_offset(width));
  const size_t groups = activation_padded(width) / kGroupColumns;
  for (size_t group = 0; group < groups; ++group) {
    const size_t column = group * kGroupColumns;
    const size_t columns = column >= width ? 0 : width - column;
    float tail[kGroupColumns] = {};
    const float* x = in + column;
    if (columns < kGroupColumns) {
      if (columns != 0) memcpy(tail, x, columns * sizeof(float));
      x = tail;
    }
    quantize_group(x, q + column, scale + group, sum + group);
  }
}

}  // namespace

void quantize_f32(const QuantizeArgs& args, Range rows, void*) {
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    quantize_row(args.in[row], args.width, static_cast<char*>(args.out) + row * args.out_stride_bytes);
  }
}

}  // namespace mote::avx2
