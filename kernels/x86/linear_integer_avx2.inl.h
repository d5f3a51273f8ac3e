// SPDX-License-Identifier: Apache-2.0
//
// Linear with q8g32 activations: per group, the exact int32 dot product of 16 outputs with each row, then one
// fma.
//
// A tile is R rows by P panels, read in place: P = 4 with one row, else R is at most Format::kRows, which the
// number of registers sets. Each vector of weights (8 outputs x 4 k) is loaded once for R rows, each word of
// 4 k is broadcast once for P panels. At least 8 independent sums are needed to hide the latency, so one row
// takes four panels side by side. The 2 R P float sums are used once a group and are kept in memory. GCC 12
// keeps the integer sums in memory as well unless they are pinned, and merges the float parts of all rows
// unless a store ends each.
//
// Each tile reads a panel once: the first from memory, the others from L1 or L2. There are no tails: K is
// padded to 64 and N to 16 in the file.
#pragma once

#include "kernels/x86/linear_avx2.inl.h"

namespace mote::avx2 {

constexpr uint32_t kMostAskingRows = 64;

/// The layout that the rows of a tile have in common: where scales and sums lie behind the q of a row.
struct ActivationLayout {
  size_t scales, sums;  // bytes from a row's start
  size_t groups;        // an even number
};

/// acc[r] += group g of a panel's cell, whose dot products with row r are dot[r]. `group` counts the row's.
template <class Format, uint32_t R>
MOTE_INLINE static inline void add_group(const typename Format::Supercell& cell, size_t g,
                                         const int8_t* const row[R], const ActivationLayout& layout,
                                         size_t group, const __m256i dot[R][kHalves],
                                         float acc[R][kPanelRows]) {
  __m256 scale_w[kHalves], minimum_w[kHalves];
  MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
    scale_w[h] = load8(cell.scale[g] + 8 * h);
    MOTE_PIN(scale_w[h]);
    if constexpr (Format::kMinimum) {
      minimum_w[h] = load8(cell.minimum[g] + 8 * h);
      MOTE_PIN(minimum_w[h]);
    }
  }
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    const __m256 scale_a =
        _mm256_broadcast_ss(reinterpret_cast<const float*>(row[r] + layout.scales) + group);
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      __m256 sum = _mm256_fmadd_ps(_mm256_mul_ps(scale_a, scale_w[h]), _mm256_cvtepi32_ps(dot[r][h]),
                                   _mm256_load_ps(acc[r] + 8 * h));
      if constexpr (Format::kMinimum) {
        const __m256i sum_a = broadcast_word(row[r] + layout.sums + 4 * group);
        sum = _mm256_fmadd_ps(minimum_w[h], _mm256_mul_ps(scale_a, _mm256_cvtepi32_ps(sum_a)), sum);
      }
      _mm256_store_ps(acc[r] + 8 * h, sum);
      if constexpr (R > 1) __asm__ volatile("" ::: "memory");
    }
  }
}

/// acc[p][r] = the products of row r with the panel at cells[p]. Not inlined, so that all registers are free
/// for the loop.
template <class Format, uint32_t R, uint32_t P, class Ahead>
__attribute__((noinline)) static void integer_sums(const typename Format::Supercell* const cells[P],
                                                   const int8_t* const rows[R],
                                                   const ActivationLayout& layout, Ahead ahead,
                                                   float acc[P][R][kPanelRows]) {
  const typename Format::Supercell* cell[P];
  const int8_t *row[R], *a[R];
  const int32_t* sum_a[R];
  MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) cell[p] = cells[p];
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) row[r] = rows[r];
  const ActivationLayout local = layout;
  for (size_t group = 0; group < local.groups;) {
    for (size_t g = 0; g < 2; ++g, ++group) {
      __m256i dot[P][R][kHalves];
      MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
        a[r] = row[r] + group * kGroupColumns;
        sum_a[r] = reinterpret_cast<const int32_t*>(row[r] + local.sums) + group;
      }
      Format::template dot<R, P>(cell, g, a, sum_a, ahead, dot);
      MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) ahead.prefetch();  // the scales take part of a line
      MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
        add_group<Format, R>(*cell[p], g, row, local, group, dot[p], acc[p]);
      }
    }
    MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) cell[p] += 1;
  }
}

/// A tile of R rows by the P panels `panel`, `panel` + stride, ... Format gives the weights' dtype and
/// supercell, kMinimum (whether there is one), kRows and dot<R, P>(cells, g, a, sum_a, ahead, dot), the
/// group's dot products, a[r] being its 32 activations of row r and sum_a[r] their sum, which prefetches for
/// weights ahead kAsks times for each panel.
template <class Format, uint32_t R, uint32_t P>
static inline void integer_tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  const typename Format::Supercell* cells[P];
  const int8_t* rows[R];
  alignas(32) float acc[P][R][kPanelRows] = {};
  for (uint32_t p = 0; p < P; ++p) {
    cells[p] = reinterpret_cast<const typename Format::Supercell*>(
        linear_panel(args, Format::kDType, panel + p * stride));
  }
  for (uint32_t r = 0; r < R; ++r) rows[r] = reinterpret_cast<const int8_t*>(linear_row(args, row + r));
  for (uint32_t p = 0; p < P; ++p) ask_for_outputs<R>(args, panel + p * stride, row);
  const ActivationLayout layout = {activation_scale_offset(args.inputs), activation_sum_offset(args.inputs),
                                   activation_padded(args.inputs) / kGroupColumns};
  // With more rows only one of many tiles waits for a panel, and the prefetches would cost more.
  if (P < kLinearStreams && args.rows <= kMostAskingRows) {
    const WeightsAhead ahead(args, Format::kDType, panel, P, row, R, layout.groups * (Format::kAsks + 1) * P,
                             kL1Rows);
    integer_sums<Format, R, P>(cells, rows, layout, ahead, acc);
  } else {
    integer_sums<Format, R, P>(cells, rows, layout, NothingAhead(), acc);
  }
  for (uint32_t p = 0; p < P; ++p) linear_finish<Floats256>(args, row, R, panel + p * stride, acc[p][0]);
}

/// All rows multiply a panel before the next one. A single row reads kLinearStreams panels side by side, two
/// rows read two, so that there are enough sums to hide the latency of an addition.
template <class Format>
static inline void integer_linear(const LinearArgs& args, Range panels) {
  if (args.rows == 1) {
    panels = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
      integer_tile<Format, 1, kLinearStreams>(args, panel, stride, 0);
    });
  }
  uint32_t panel = panels.begin;
  if (args.rows == 2) {
    for (; panel + 2 <= panels.end; panel += 2) integer_tile<Format, 2, 2>(args, panel, 1, 0);
  }
  for (; panel < panels.end; ++panel) {
    each_tile<Format::kRows>(
        args.rows, [&](auto rows, uint32_t row) { integer_tile<Format, rows, 1>(args, panel, 0, row); });
  }
}

}  // namespace mote::avx2
