// SPDX-License-Identifier: Apache-2.0
//
// Dot products of bytes by sdot, for linear_tiles.inl.h: a word of 4 columns in each lane of weights by one
// lane of activations, of which a vector holds 4 words. One row and four have loops in assembly.
#pragma once

#include "kernels/arm/sdot_four_rows.inl.h"
#include "kernels/arm/sdot_one_row.inl.h"

namespace mote {
namespace {

struct Sdot {
  static constexpr uint32_t kRows = 4, kByteRows = 4, kLeastByteRows = 1, kUnpackRows = 9, kStart = kSumStart;
  template <class Source, uint32_t R>
  static constexpr bool kTakesGroups =
      R == 4 ? Source::kGroups == 1 || Source::Weights::kBiased : R == 1 && Source::kGroups == 2;

  MOTE_INLINE static float32x4_t to_float(int32x4_t d) {
    return vsubq_f32(vreinterpretq_f32_s32(d), vreinterpretq_f32_u32(vdupq_n_u32(kSumStart)));
  }

  /// d[r] += 4 columns of a panel's bytes times word `at` of row r's vector.
  template <uint32_t at, uint32_t R>
  MOTE_INLINE static void add_quad(const int8x16_t (&w)[kPanelVectors], const int8x16_t (&a)[R],
                                   int32x4_t (&d)[R][kPanelVectors]) {
    each_constant<R>([&](auto r) MOTE_INLINE {
      each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
        d[r][v] = vdotq_laneq_s32(d[r][v], w[v], a[r], at);
        MOTE_ORDER(d[r][v]);
      });
    });
  }

  template <uint32_t R>
  MOTE_INLINE static void load(const char* const (&from)[R], size_t at, int8x16_t (&a)[R]) {
    each_constant<R>([&](auto r)
                         MOTE_INLINE { a[r] = vld1q_s8(reinterpret_cast<const int8_t*>(from[r]) + at); });
  }

  template <uint32_t R>
  MOTE_INLINE static void begin(const uint32_t (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
    each_constant<R>([&](auto r) MOTE_INLINE {
      each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { d[r][v] = start_vector(start[r]); });
    });
  }

  template <uint32_t R>
  MOTE_INLINE static void dots(const uint8_t (&nibbles)[4][16][4], const char* const (&from)[R],
                               const uint32_t (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
    begin(start, d);
    int8x16_t a[R];
    each_constant<4>([&](auto j) MOTE_INLINE {
      if constexpr (j % 2 == 0) load(from, 8 * j, a);
      int8x16_t low[kPanelVectors], high[kPanelVectors];
      each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
        const uint8x16_t w = vld1q_u8(nibbles[j][4 * v]);
        low[v] = vreinterpretq_s8_u8(vandq_u8(w, vdupq_n_u8(15)));
        high[v] = vreinterpretq_s8_u8(vshrq_n_u8(w, 4));
      });
      add_quad<2 * (j % 2)>(low, a, d);
      add_quad<2 * (j % 2) + 1>(high, a, d);
    });
  }

  template <uint32_t R>
  MOTE_INLINE static void dots(const int8_t (&q)[8][16][4], const char* const (&from)[R],
                               const uint32_t (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
    begin(start, d);
    add_group(q, from, d);
  }

  template <uint32_t R>
  MOTE_INLINE static void add_group(const int8_t (&q)[8][16][4], const char* const (&from)[R],
                                    int32x4_t (&d)[R][kPanelVectors]) {
    int8x16_t a[R];
    each_constant<8>([&](auto j) MOTE_INLINE {
      if constexpr (j % 4 == 0) load(from, 4 * j, a);
      int8x16_t w[kPanelVectors];
      each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { w[v] = vld1q_s8(q[j][4 * v]); });
      add_quad<j % 4>(w, a, d);
    });
  }

  template <uint32_t R>
  MOTE_INLINE static void dots(const SmallBytes& bytes, const char* const (&from)[R],
                               const uint32_t (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
    dots(bytes.q, from, start, d);
  }

  template <uint32_t R>
  static constexpr bool kTakesRows = R == 4;

  /// acc[r] = the products of `cells` cells with 4 rows, scaled; a half of the panel after the other.
  template <class Source, bool kAlone>
  static void take_groups(const typename Source::Cell* cell, const char* const (&a)[4],
                          const RowGroups<4>* rows, size_t cells,
                          const CellsAhead<typename Source::Cell, kAlone>& ahead,
                          float (&acc)[4][kPanelRows]) {
    constexpr bool kInPlace = Source::kGroups == 2;
    constexpr uint32_t kHalf = kPanelRows / 2;
    for (uint32_t half = 0; half < 2; ++half) {
      const void *w, *scale = nullptr;
      if constexpr (kInPlace) {
        w = cell->q[0][0][half * kHalf];
        scale = cell->scale[0] + half * kHalf;
      } else {
        w = cell->weights.q[0][half * kHalf];
      }
      const uint32_t count = kInPlace && half == 0 ? ahead.prefetches : 0;
      float* to = acc[0] + half * kHalf;
      if (ahead.ahead.to_l1) {
        take_half_panel<Source, true>(w, scale, a, rows, cells, count, ahead.ahead, to);
      } else {
        take_half_panel<Source, false>(w, scale, a, rows, cells, count, ahead.ahead, to);
      }
    }
  }
  /// acc = the same with one row.
  template <class Source, bool kAlone>
  static void take_groups(const typename Source::Cell* cell, const char* const (&a)[1],
                          const RowGroups<1>* rows, size_t cells,
                          const CellsAhead<typename Source::Cell, kAlone>& ahead,
                          float (&acc)[1][kPanelRows]) {
    if (kAlone || ahead.ahead.to_l1) {
      take_row<typename Source::Weights, kAlone, true>(cell, a[0], rows, cells, ahead.prefetches, ahead.ahead,
                                                       acc[0]);
    } else {
      take_row<typename Source::Weights, kAlone, false>(cell, a[0], rows, cells, ahead.prefetches,
                                                        ahead.ahead, acc[0]);
    }
  }

  /// The sums of R rows of q8c, in memory from turn to turn: GCC 12 moves sums that it keeps in registers.
  template <uint32_t R>
  struct Rows {
    int32_t total[R][kPanelRows];
    void begin() { memset(total, 0, sizeof total); }
    /// 64 columns.
    MOTE_INLINE void add(const void* w, const char* const (&from)[R]) {
      const auto* q = static_cast<const int8_t(*)[8][16][4]>(w);
      const char* next[R];
      int32x4_t d[R][kPanelVectors];
      each_constant<R>([&](auto r) MOTE_INLINE {
        next[r] = from[r] + kGroupColumns;
        each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { d[r][v] = vld1q_s32(total[r] + 4 * v); });
      });
      add_group(q[0], from, d);
      add_group(q[1], next, d);
      each_constant<R>([&](auto r) MOTE_INLINE {
        each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { vst1q_s32(total[r] + 4 * v, d[r][v]); });
      });
      if constexpr (R > 1) __asm__ volatile("" ::: "memory");
    }
    /// All columns, of R == 4.
    void take(const void* w, const char* (&a)[R], size_t turns, uint32_t count, const WeightsAhead& ahead) {
      if (ahead.to_l1) return columns_of_four<true>(w, a, turns, count, ahead, total);
      columns_of_four<false>(w, a, turns, count, ahead, total);
    }
    int32x4_t sum(uint32_t r, uint32_t v) const { return vld1q_s32(total[r] + 4 * v); }
  };
};

}  // namespace
}  // namespace mote

#undef MOTE_DOTS
#undef MOTE_LOAD_EVEN
#undef MOTE_LOAD_ODD
#undef MOTE_PREFETCHES
