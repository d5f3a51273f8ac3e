// SPDX-License-Identifier: Apache-2.0
//
// The plan says how each quad (4 columns) of q8c activations is multiplied. It is made once for a tile of
// rows and used with every panel of weights.
//
// maddubs multiplies unsigned by signed bytes and adds pairs in int16, saturating. Weights plus 128 are
// unsigned and at most 255. A sum of their products fits int16 where the positive activations of the sum add
// up to at most 128, and so do the magnitudes of the negative ones: 255 * 128 = 32640. A quad makes two sums
// of two products for each row. Activations are scaled by the largest of their row, so most are small: most
// quads fit together with the quad beside them, most others fit alone, and few need the signs of the weights.
#pragma once

#include "kernels/x86/linear_avx2.inl.h"

namespace mote::avx2 {

/// The quads of a tile of up to 4 rows, grouped by how they are multiplied; the indices lie behind the plan.
/// `twos` is null where an activation is -128, which no plan supports; quantize never stores it.
struct QuadPlan {
  const uint16_t *twos, *twos_end;    // octets (two quads, 2 i and 2 i + 1) that fit together
  const uint16_t *ones, *ones_end;    // quads that fit alone
  const uint16_t *signs, *signs_end;  // quads that do not
  uint32_t excess[4];                 // by row: the sum of the activations of twos and ones, modulo 2^32
};

/// Bytes of a plan: its head, 2 bytes for each 8 columns and 2 for each 4.
constexpr uint64_t quad_plan_bytes(uint64_t columns) {
  return align_up(sizeof(QuadPlan) + (columns / 8 + columns / 4) * sizeof(uint16_t), alignof(QuadPlan));
}

/// Says whether each 32 bits of sums are at most 128, a bit each.
static inline uint32_t fitting(__m256i sums) {
  const __m256i over = _mm256_cmpgt_epi16(sums, _mm256_set1_epi16(128));
  const __m256i fit = _mm256_cmpeq_epi32(over, _mm256_setzero_si256());
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(fit)));
}

/// Plans rows a[0..R-1] of `columns` activations, a multiple of 32 and fewer than 2^18, each with its
/// RowScale behind.
template <uint32_t R>
static void plan_quads(const int8_t* const a[R], size_t columns, QuadPlan* plan) {
  const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi8(1);
  uint16_t* two = reinterpret_cast<uint16_t*>(plan + 1);
  uint16_t* one = two + columns / 8;
  uint16_t* sign = one + columns / 4;  // from the back: with the ones at most all quads
  plan->twos = two;
  plan->ones = one;
  plan->signs_end = sign;
  __m256i least = zero;
  for (size_t k = 0; k < columns; k += 32) {
    __m256i alone = zero, together = zero;
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
      const __m256i x = load_bytes(a[r] + k);
      least = _mm256_min_epi8(least, x);
      const __m256i above = _mm256_maddubs_epi16(_mm256_max_epi8(x, zero), ones);
      const __m256i below = _mm256_maddubs_epi16(_mm256_max_epi8(_mm256_sub_epi8(zero, x), zero), ones);
      alone = _mm256_max_epi16(alone, _mm256_max_epi16(above, below));
      // The other quad of each octet is the other half of its 64 bits.
      const __m256i above_two = _mm256_add_epi16(above, _mm256_shuffle_epi32(above, 0xb1));
      const __m256i below_two = _mm256_add_epi16(below, _mm256_shuffle_epi32(below, 0xb1));
      together = _mm256_max_epi16(together, _mm256_max_epi16(above_two, below_two));
    }
    const uint32_t fits_alone = fitting(alone), fits_together = fitting(together);
    // Without branches, which would be mispredicted: each index is stored, and kept where the pointer moves
    // on. The stores of `sign` meet those of `one` at the last quad at the earliest, where both are the same.
    MOTE_UNROLL for (uint32_t octet = 0; octet < 4; ++octet) {
      const uint32_t is_two = fits_together >> (2 * octet) & 1;
      *two = static_cast<uint16_t>(k / 8 + octet);
      two += is_two;
      MOTE_UNROLL for (uint32_t i = 2 * octet; i < 2 * octet + 2; ++i) {
        const uint32_t fits = fits_alone >> i & 1;
        *one = sign[-1] = static_cast<uint16_t>(k / 4 + i);
        one += fits & ~is_two;
        sign -= 1 - fits;
      }
    }
  }
  if (has_lowest(least)) plan->twos = nullptr;
  plan->twos_end = two;
  plan->ones_end = one;
  plan->signs = sign;
  for (uint32_t r = 0; r < R; ++r) {
    // Unsigned: in a buffer that nothing quantized the stored sum may be any int32.
    plan->excess[r] = static_cast<uint32_t>(reinterpret_cast<const RowScale*>(a[r] + columns)->sum);
    for (const uint16_t* quad = plan->signs; quad != plan->signs_end; ++quad) {
      const int8_t* q = a[r] + size_t{4} * *quad;
      plan->excess[r] -= static_cast<uint32_t>(q[0] + q[1] + q[2] + q[3]);
    }
  }
}

}  // namespace mote::avx2
