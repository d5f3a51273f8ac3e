// SPDX-License-Identifier: Apache-2.0
//
// Rotates pairs (a, b) of the first R columns of each head: a' = a cos - b sin, b' = b cos + a sin. The
// products are rounded before the sum, as in the reference: the same bits.
//
// half: 8 pairs (i, i + R/2) at a time. interleaved: 4 pairs (2i, 2i + 1) in one register, by
//   x          a0 b0 a1 b1 | a2 b2 a3 b3
//   swapped    b0 a0 b1 a1 | b2 a2 b3 a3
//   cos, sin   c0 c0 c1 c1 | c2 c2 c3 c3
// and x cos -+ swapped sin, minus in the even lanes. The last pairs are masked. Nothing is carried from one
// step to the next and the loop is bound by its stores: no unrolling.
#include <assert.h>

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

static inline void rotate_halves(float* x, const float* cosines, const float* sines, uint32_t half) {
  for (uint32_t i = 0; i < half; i += kLanes) {
    const uint32_t left = half - i;
    const __m256 cosine = load_first(cosines + i, left);
    const __m256 sine = load_first(sines + i, left);
    const __m256 a = load_first(x + i, left);
    const __m256 b = load_first(x + half + i, left);
    store_first(x + i, left, _mm256_sub_ps(_mm256_mul_ps(a, cosine), _mm256_mul_ps(b, sine)));
    store_first(x + half + i, left, _mm256_add_ps(_mm256_mul_ps(b, cosine), _mm256_mul_ps(a, sine)));
  }
}

/// The first `count` <= 4 elements, each twice.
static inline __m256 load_twice(const float* from, uint32_t count) {
  const __m128i mask = _mm256_castsi256_si128(tail_mask(count));
  const __m128 four = count >= 4 ? _mm_loadu_ps(from) : _mm_maskload_ps(from, mask);
  return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(four), _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}

static inline void rotate_neighbours(float* x, const float* cosines, const float* sines, uint32_t half) {
  for (uint32_t i = 0; i < half; i += 4) {
    const uint32_t left = half - i;
    const __m256 pairs = load_first(x + 2 * i, 2 * left);
    const __m256 swapped = _mm256_permute_ps(pairs, _MM_SHUFFLE(2, 3, 0, 1));
    const __m256 by_cosine = _mm256_mul_ps(pairs, load_twice(cosines + i, left));
    const __m256 by_sine = _mm256_mul_ps(swapped, load_twice(sines + i, left));
    store_first(x + 2 * i, 2 * left, _mm256_addsub_ps(by_cosine, by_sine));
  }
}

void rope_f32(const RopeArgs& args, Range rows, void*) {
  assert(args.rotary_width % 2 == 0 && args.rotary_width <= args.head_dim);
  const uint32_t half = args.rotary_width / 2;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* cosines = args.table[t];
    for (uint32_t head = 0; head < args.heads; ++head) {
      float* x = args.x[t] + head * args.head_dim;
      if (args.kind == RopeKind::half) {
        rotate_halves(x, cosines, cosines + half, half);
      } else {
        rotate_neighbours(x, cosines, cosines + half, half);
      }
    }
  }
}

}  // namespace mote::avx2
