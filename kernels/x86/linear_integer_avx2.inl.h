// SPDX-License-Identifier: Apache-2.0
//
// Linear with q8g32 activations: per group, the exact int32 dot product of 16 outputs with each row, then one
// fma.
//
// A tile is R rows by one panel. Each vector of weights (8 outputs x 4 k) is unpacked once for R rows, whose
// words of 4 k are broadcast against it. With R = 4 the 2 R integer sums, the weights, a word and the masks
// fit 16 registers; the 2 R float sums are touched once a group and may spill. A panel's stream is read once
// a tile: from memory by the first, from L1 or L2 by the rest. No tails: K is padded to 64 and N to 16 in the
// file.
#pragma once

#include "kernels/x86/linear_avx2.inl.h"

namespace mote::avx2 {

static inline __m256 load_f16x8(const uint16_t* half) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half)));
}

/// dot[r][h] = sum over a group of nibble * a[r], int32. Low nibbles hold k = 8 j + 0..3, high ones 8 j
/// + 4..7. maddubs pairs are at most 15 * 127 * 2, and 8 of them 30480: the group's sum stays within int16.
template <uint32_t R>
static inline void nibble_dot(const uint8_t nibbles[4][16][4], const int8_t* const a[R],
                              __m256i dot[R][kHalves]) {
  const __m256i mask = _mm256_set1_epi8(15);
  __m256i sum[R][kHalves];
#pragma GCC unroll 4
  for (uint32_t j = 0; j < 4; ++j) {
    __m256i low[kHalves], high[kHalves];
#pragma GCC unroll 2
    for (uint32_t h = 0; h < kHalves; ++h) {
      const __m256i w = load_bytes(nibbles[j][8 * h]);
      low[h] = _mm256_and_si256(w, mask);
      high[h] = _mm256_and_si256(_mm256_srli_epi16(w, 4), mask);
    }
#pragma GCC unroll 8
    for (uint32_t r = 0; r < R; ++r) {
      const __m256i a_low = broadcast_word(a[r] + 8 * j), a_high = broadcast_word(a[r] + 8 * j + 4);
#pragma GCC unroll 2
      for (uint32_t h = 0; h < kHalves; ++h) {
        const __m256i pairs = _mm256_maddubs_epi16(low[h], a_low);
        sum[r][h] = j == 0 ? pairs : _mm256_add_epi16(sum[r][h], pairs);
        sum[r][h] = _mm256_add_epi16(sum[r][h], _mm256_maddubs_epi16(high[h], a_high));
      }
    }
  }
  const __m256i ones = _mm256_set1_epi16(1);
  for (uint32_t r = 0; r < R; ++r) {
    for (uint32_t h = 0; h < kHalves; ++h) dot[r][h] = _mm256_madd_epi16(sum[r][h], ones);
  }
}

/// acc[r][h] += the products of a group of one panel.
template <class Format, uint32_t R>
__attribute__((always_inline)) static inline void integer_group(const typename Format::Supercell& cell,
                                                                size_t group, const int8_t* const a[R],
                                                                const float* const scale_a[R],
                                                                const int32_t* const sum_a[R],
                                                                __m256 acc[R][kHalves]) {
  const size_t g = group % 2;
  const int8_t* q[R];
  for (uint32_t r = 0; r < R; ++r) q[r] = a[r] + group * kGroupColumns;
  __m256i dot[R][kHalves];
  Format::template dot<R>(cell, g, q, dot);
#pragma GCC unroll 2
  for (uint32_t h = 0; h < kHalves; ++h) {
    const __m256 scale_w = load_f16x8(cell.scale[g] + 8 * h);
#pragma GCC unroll 4
    for (uint32_t r = 0; r < R; ++r) {
      __m256i d = dot[r][h];
      if constexpr (Format::kOffset != 0) {
        // Unsigned, because a file that was tampered with can present any sums.
        const uint32_t offset =
            static_cast<uint32_t>(Format::kOffset) * static_cast<uint32_t>(sum_a[r][group]);
        d = _mm256_sub_epi32(d, _mm256_set1_epi32(static_cast<int32_t>(offset)));
      }
      const __m256 scale = _mm256_mul_ps(_mm256_set1_ps(scale_a[r][group]), scale_w);
      acc[r][h] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(d), acc[r][h]);
      if constexpr (Format::kMinimum) {
        const __m256 minimum =
            _mm256_mul_ps(_mm256_set1_ps(scale_a[r][group]), load_f16x8(cell.minimum[g] + 8 * h));
        acc[r][h] = _mm256_fmadd_ps(minimum, _mm256_set1_ps(static_cast<float>(sum_a[r][group])), acc[r][h]);
      }
    }
  }
}

/// A tile of R rows by the P panels `panel`, `panel` + stride, ... Format gives the weights' dtype and
/// supercell, kOffset (dot is of w + kOffset), kMinimum (whether there is one) and dot<R>(cell, g, a, dot),
/// a[r] being the group's 32 activations of row r.
template <class Format, uint32_t R, uint32_t P>
static inline void integer_tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  const typename Format::Supercell* cell[P];
  for (uint32_t p = 0; p < P; ++p) {
    cell[p] = reinterpret_cast<const typename Format::Supercell*>(
        linear_panel(args, Format::kDType, panel + p * stride));
  }
  const int8_t* a[R];
  const float* scale_a[R];
  const int32_t* sum_a[R];
  __m256 acc[P][R][kHalves];
#pragma GCC unroll 4
  for (uint32_t r = 0; r < R; ++r) {
    const char* in = linear_row(args, row + r);
    a[r] = reinterpret_cast<const int8_t*>(in);
    scale_a[r] = reinterpret_cast<const float*>(in + activation_scale_offset(args.inputs));
    sum_a[r] = reinterpret_cast<const int32_t*>(in + activation_sum_offset(args.inputs));
#pragma GCC unroll 4
    for (uint32_t p = 0; p < P; ++p) acc[p][r][0] = acc[p][r][1] = _mm256_setzero_ps();
  }
  const size_t supercells = activation_padded(args.inputs) / kSupercellColumns;
  for (size_t s = 0; s < supercells; ++s) {
#pragma GCC unroll 4
    for (uint32_t p = 0; p < P; ++p) {
      integer_group<Format, R>(cell[p][s], 2 * s, a, scale_a, sum_a, acc[p]);
      integer_group<Format, R>(cell[p][s], 2 * s + 1, a, scale_a, sum_a, acc[p]);
    }
  }
#pragma GCC unroll 4
  for (uint32_t r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (uint32_t p = 0; p < P; ++p)
      linear_finish(args, row + r, panel + p * stride, acc[p][r][0], acc[p][r][1]);
  }
}

template <class Format>
struct IntegerTile {
  template <uint32_t R>
  static void run(const LinearArgs& args, uint32_t panel, uint32_t row) {
    integer_tile<Format, R, 1>(args, panel, 0, row);
  }
};

/// The weights of a panel are read by all rows before the next. A single row reads kLinearStreams panels side
/// by side.
template <class Format>
static inline void integer_linear(const LinearArgs& args, Range panels) {
  uint32_t panel = panels.begin;
  if (args.rows == 1) {
    const uint32_t stride = (panels.end - panels.begin) / kLinearStreams;
    for (; panel < panels.begin + stride; ++panel)
      integer_tile<Format, 1, kLinearStreams>(args, panel, stride, 0);
    panel = panels.begin + stride * kLinearStreams;
  }
  for (; panel < panels.end; ++panel) linear_tile_rows<IntegerTile<Format>, 4>(args, panel, 0);
}

}  // namespace mote::avx2
