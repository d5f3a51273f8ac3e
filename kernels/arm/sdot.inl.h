// SPDX-License-Identifier: Apache-2.0
//
// Dot products of bytes by sdot, for linear_tiles.inl.h: a word of 4 columns in each lane of weights by one
// lane of activations, of which a vector holds 4 words.
//
// One row and four have loops in assembly: with few instructions between, which are what a core of 4 a cycle
// runs out of first (Cortex-A76). Sums of one row are v0 to v3, of four v0 to v15.
#pragma once

#include "kernels/arm/linear_tiles.inl.h"

/// A row of a panel: sums d0 to d3 by the weights w0 to w3 and a lane.
#define MOTE_DOTS(d0, d1, d2, d3, w0, w1, w2, w3, a)                                             \
  "sdot v" #d0 ".4s, v" #w0 ".16b, v" #a "\nsdot v" #d1 ".4s, v" #w1 ".16b, v" #a "\nsdot v" #d2 \
  ".4s, v" #w2 ".16b, v" #a "\nsdot v" #d3 ".4s, v" #w3 ".16b, v" #a "\n"
/// Four rows by v16 to v19, or v20 to v23, and a lane of a0 to a3.
#define MOTE_DOTS_EVEN(a0, a1, a2, a3, lane)            \
  MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, a0.4b [lane])   \
  MOTE_DOTS(4, 5, 6, 7, 16, 17, 18, 19, a1.4b [lane])   \
  MOTE_DOTS(8, 9, 10, 11, 16, 17, 18, 19, a2.4b [lane]) \
  MOTE_DOTS(12, 13, 14, 15, 16, 17, 18, 19, a3.4b [lane])
#define MOTE_DOTS_ODD(a0, a1, a2, a3, lane)             \
  MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, a0.4b [lane])   \
  MOTE_DOTS(4, 5, 6, 7, 20, 21, 22, 23, a1.4b [lane])   \
  MOTE_DOTS(8, 9, 10, 11, 20, 21, 22, 23, a2.4b [lane]) \
  MOTE_DOTS(12, 13, 14, 15, 20, 21, 22, 23, a3.4b [lane])
#define MOTE_LOAD_EVEN "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [x9], 64\n"
#define MOTE_LOAD_ODD "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [x9], 64\n"
/// A row's sums, times its scale v20.s[r] and the weights' v16 to v19, to acc at x10; and its share of the
/// minima.
#define MOTE_SCALE_ROW(d0, d1, d2, d3, r)                                                                  \
  "ld1 {v28.4s, v29.4s, v30.4s, v31.4s}, [x10]\n"                                                          \
  "fmul v24.4s, v16.4s, v20.s[" #r "]\nfmul v25.4s, v17.4s, v20.s[" #r "]\nfmul v26.4s, v18.4s, v20.s[" #r \
  "]\n"                                                                                                    \
  "fmul v27.4s, v19.4s, v20.s[" #r                                                                         \
  "]\n"                                                                                                    \
  "scvtf v" #d0 ".4s, v" #d0 ".4s\nscvtf v" #d1 ".4s, v" #d1 ".4s\nscvtf v" #d2 ".4s, v" #d2               \
  ".4s\n"                                                                                                  \
  "scvtf v" #d3 ".4s, v" #d3                                                                               \
  ".4s\n"                                                                                                  \
  "fmla v28.4s, v24.4s, v" #d0 ".4s\nfmla v29.4s, v25.4s, v" #d1 ".4s\nfmla v30.4s, v26.4s, v" #d2         \
  ".4s\n"                                                                                                  \
  "fmla v31.4s, v27.4s, v" #d3                                                                             \
  ".4s\n"                                                                                                  \
  ".if %c[minimum]\n"                                                                                      \
  "ld1 {v24.4s, v25.4s, v26.4s, v27.4s}, [%[least]]\n"                                                     \
  "fmla v28.4s, v24.4s, v21.s[" #r "]\nfmla v29.4s, v25.4s, v21.s[" #r "]\nfmla v30.4s, v26.4s, v21.s[" #r \
  "]\n"                                                                                                    \
  "fmla v31.4s, v27.4s, v21.s[" #r                                                                         \
  "]\n"                                                                                                    \
  ".endif\n"                                                                                               \
  "st1 {v28.4s, v29.4s, v30.4s, v31.4s}, [x10], 64\n"
#define MOTE_ALL_VECTORS                                                                                \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", \
      "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", \
      "v30", "v31"

namespace mote {
namespace {

/// acc[r] += the products of a group of bytes with 4 rows, scaled; of kHalves scales are halves.
template <bool kMinimum, bool kHalves>
MOTE_INLINE static inline void add_group_of_four(const int8_t (&q)[8][16][4], const void* scale,
                                                 const void* least, const char* const (&a)[4],
                                                 const RowGroups<4>& rows, float (&acc)[4][kPanelRows]) {
  __asm__(
      "mov x9, %[w]\n" MOTE_LOAD_EVEN
      "ldr q24, [%[a0]]\nldr q25, [%[a1]]\nldr q26, [%[a2]]\nldr q27, [%[a3]]\n" MOTE_LOAD_ODD
      "ldr q28, [%[a0], 16]\nldr q29, [%[a1], 16]\nldr q30, [%[a2], 16]\nldr q31, [%[a3], 16]\n"
      "movi v0.4s, 0\nmovi v1.4s, 0\nmovi v2.4s, 0\nmovi v3.4s, 0\nmovi v4.4s, 0\nmovi v5.4s, 0\nmovi v6.4s, 0\n"
      "movi v7.4s, 0\nmovi v8.4s, 0\nmovi v9.4s, 0\nmovi v10.4s, 0\nmovi v11.4s, 0\nmovi v12.4s, 0\nmovi v13.4s, 0\n"
      "movi v14.4s, 0\nmovi v15.4s, 0\n"
      MOTE_DOTS_EVEN(24, 25, 26, 27, 0) MOTE_LOAD_EVEN MOTE_DOTS_ODD(24, 25, 26, 27, 1) MOTE_LOAD_ODD
      MOTE_DOTS_EVEN(24, 25, 26, 27, 2) MOTE_LOAD_EVEN MOTE_DOTS_ODD(24, 25, 26, 27, 3) MOTE_LOAD_ODD
      MOTE_DOTS_EVEN(28, 29, 30, 31, 0) MOTE_LOAD_EVEN MOTE_DOTS_ODD(28, 29, 30, 31, 1) MOTE_LOAD_ODD
      MOTE_DOTS_EVEN(28, 29, 30, 31, 2)
      "mov x10, %[acc]\n"
      ".if %c[halves]\n"
      "ld1 {v24.8h, v25.8h}, [%[scale]]\n"
      "fcvtl v16.4s, v24.4h\nfcvtl2 v17.4s, v24.8h\nfcvtl v18.4s, v25.4h\nfcvtl2 v19.4s, v25.8h\n"
      ".else\n"
      "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[scale]]\n"
      ".endif\n"
      MOTE_DOTS_ODD(28, 29, 30, 31, 3)
      "ldp q20, q21, [%[rows]]\n"
      MOTE_SCALE_ROW(0, 1, 2, 3, 0) MOTE_SCALE_ROW(4, 5, 6, 7, 1) MOTE_SCALE_ROW(8, 9, 10, 11, 2)
      MOTE_SCALE_ROW(12, 13, 14, 15, 3)
      :
      : [w] "r"(q), [a0] "r"(a[0]), [a1] "r"(a[1]), [a2] "r"(a[2]), [a3] "r"(a[3]), [rows] "r"(&rows), [acc] "r"(acc),
        [scale] "r"(scale), [least] "r"(least), [minimum] "i"(kMinimum), [halves] "i"(kHalves)
      : "memory", "x9", "x10", MOTE_ALL_VECTORS);
}

/// Of q8c: 16 columns of 4 rows.
#define MOTE_DOTS_OF_FOUR                                                                             \
  MOTE_LOAD_EVEN                                                                                      \
  "ldr q24, [%[a0]], 16\nldr q25, [%[a1]], 16\nldr q26, [%[a2]], 16\n"                                \
  "ldr q27, [%[a3]], 16\n" MOTE_LOAD_ODD MOTE_DOTS_EVEN(24, 25, 26, 27, 0)                            \
      MOTE_LOAD_EVEN MOTE_DOTS_ODD(24, 25, 26, 27, 1) MOTE_LOAD_ODD MOTE_DOTS_EVEN(24, 25, 26, 27, 2) \
          MOTE_DOTS_ODD(24, 25, 26, 27, 3)

/// total[r] = the products of `turns` times 64 columns of bytes with row r; each turn prefetches `count`
/// lines.
template <bool kToL1>
MOTE_INLINE static inline void columns_of_four(const void* w, const char* (&a)[4], size_t turns,
                                               uint32_t count, const WeightsAhead& ahead,
                                               int32_t (&total)[4][kPanelRows]) {
  const char* at = ahead.at;
  __asm__ volatile(
      "mov x9, %[w]\n"
      "movi v0.4s, 0\nmovi v1.4s, 0\nmovi v2.4s, 0\nmovi v3.4s, 0\nmovi v4.4s, 0\nmovi v5.4s, 0\nmovi v6.4s, "
      "0\n"
      "movi v7.4s, 0\nmovi v8.4s, 0\nmovi v9.4s, 0\nmovi v10.4s, 0\nmovi v11.4s, 0\nmovi v12.4s, 0\nmovi "
      "v13.4s, 0\n"
      "movi v14.4s, 0\nmovi v15.4s, 0\n"
      "1: mov w10, %w[count]\n"
      "2:\n"
      ".if %c[l1]\nprfm pldl1keep, [%[at]]\n.else\nprfm pldl2keep, [%[at]]\n.endif\n"
      "add %[at], %[at], %[step]\nsubs w10, w10, 1\nb.hi 2b\n" MOTE_DOTS_OF_FOUR MOTE_DOTS_OF_FOUR
          MOTE_DOTS_OF_FOUR MOTE_DOTS_OF_FOUR
      "subs %[turns], %[turns], 1\nb.ne 1b\n"
      "mov x10, %[total]\n"
      "st1 {v0.4s, v1.4s, v2.4s, v3.4s}, [x10], 64\nst1 {v4.4s, v5.4s, v6.4s, v7.4s}, [x10], 64\n"
      "st1 {v8.4s, v9.4s, v10.4s, v11.4s}, [x10], 64\nst1 {v12.4s, v13.4s, v14.4s, v15.4s}, [x10]\n"
      : [a0] "+r"(a[0]), [a1] "+r"(a[1]), [a2] "+r"(a[2]), [a3] "+r"(a[3]), [turns] "+r"(turns), [at] "+r"(at)
      : [w] "r"(w), [count] "r"(count), [step] "r"(ahead.step), [total] "r"(total), [l1] "i"(kToL1)
      : "memory", "cc", "x9", "x10", MOTE_ALL_VECTORS);
}
#undef MOTE_DOTS_OF_FOUR

// Of one row: v24 and v25 are the activations, v26 the row's scale, v27 where the products start or what
// minima multiply, v28 to v31 acc.
#define MOTE_BEGIN_ROW                                                                   \
  "mov x9, %[w]\nld1 {v24.16b, v25.16b}, [%[a]]\nld2r {v26.4s, v27.4s}, [%[row]]\n"      \
  ".if %c[starts]\n"                                                                     \
  "mov v0.16b, v27.16b\nmov v1.16b, v27.16b\nmov v2.16b, v27.16b\nmov v3.16b, v27.16b\n" \
  ".else\n"                                                                              \
  "movi v0.4s, 0\nmovi v1.4s, 0\nmovi v2.4s, 0\nmovi v3.4s, 0\n"                         \
  ".endif\n"
#define MOTE_END_ROW                                                                           \
  "ld1 {v16.8h, v17.8h}, [%[scale]]\nld1 {v28.4s, v29.4s, v30.4s, v31.4s}, [%[acc]]\n"         \
  "fcvtl v20.4s, v16.4h\nfcvtl2 v21.4s, v16.8h\nfcvtl v22.4s, v17.4h\nfcvtl2 v23.4s, v17.8h\n" \
  "fmul v20.4s, v20.4s, v26.4s\nfmul v21.4s, v21.4s, v26.4s\nfmul v22.4s, v22.4s, v26.4s\n"    \
  "fmul v23.4s, v23.4s, v26.4s\n"                                                              \
  "scvtf v0.4s, v0.4s\nscvtf v1.4s, v1.4s\nscvtf v2.4s, v2.4s\nscvtf v3.4s, v3.4s\n"           \
  "fmla v28.4s, v20.4s, v0.4s\nfmla v29.4s, v21.4s, v1.4s\nfmla v30.4s, v22.4s, v2.4s\n"       \
  "fmla v31.4s, v23.4s, v3.4s\n"                                                               \
  ".if %c[minimum]\n"                                                                          \
  "ld1 {v16.8h, v17.8h}, [%[least]]\n"                                                         \
  "fcvtl v20.4s, v16.4h\nfcvtl2 v21.4s, v16.8h\nfcvtl v22.4s, v17.4h\nfcvtl2 v23.4s, v17.8h\n" \
  "fmla v28.4s, v20.4s, v27.4s\nfmla v29.4s, v21.4s, v27.4s\nfmla v30.4s, v22.4s, v27.4s\n"    \
  "fmla v31.4s, v23.4s, v27.4s\n"                                                              \
  ".endif\n"                                                                                   \
  "st1 {v28.4s, v29.4s, v30.4s, v31.4s}, [%[acc]]\n"
/// 8 columns of nibbles.
#define MOTE_NIBBLES(low, high)                                                                           \
  "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [x9], 64\n"                                                  \
  "and v20.16b, v16.16b, %[fifteen].16b\nand v21.16b, v17.16b, %[fifteen].16b\n"                          \
  "and v22.16b, v18.16b, %[fifteen].16b\nand v23.16b, v19.16b, %[fifteen].16b\n"                          \
  "ushr v16.16b, v16.16b, 4\nushr v17.16b, v17.16b, 4\nushr v18.16b, v18.16b, 4\nushr v19.16b, v19.16b, " \
  "4\n" MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, low) MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, high)
#define MOTE_ROW_OPERANDS                                                              \
  [w] "r"(Format::weights(cell, g)), [a] "r"(a), [row] "r"(&row), [acc] "r"(acc),      \
      [scale] "r"(cell.scale[g]), [least] "r"(least), [minimum] "i"(Format::kMinimum), \
      [starts] "i"(Format::kOffset != 0), [fifteen] "w"(vdupq_n_u8(15))
#define MOTE_ROW_CLOBBERS                                                                                \
  "memory", "x9", "v0", "v1", "v2", "v3", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", \
      "v25", "v26", "v27", "v28", "v29", "v30", "v31"

/// acc += the products of a group with one row, scaled.
template <class Format>
MOTE_INLINE static inline void add_group_of_one(const typename Format::Supercell& cell, size_t g,
                                                const char* a, const RowGroups<1>& row,
                                                float (&acc)[kPanelRows]) {
  const void* least = nullptr;
  if constexpr (Format::kMinimum) least = cell.minimum[g];
  if constexpr (Format::kBiased) {
    __asm__(MOTE_BEGIN_ROW MOTE_LOAD_EVEN MOTE_LOAD_ODD MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, 24.4b [0])
                MOTE_LOAD_EVEN MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, 24.4b [1])
                    MOTE_LOAD_ODD MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, 24.4b [2])
                        MOTE_LOAD_EVEN MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, 24.4b [3])
                            MOTE_LOAD_ODD MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, 25.4b [0])
                                MOTE_LOAD_EVEN MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, 25.4b [1])
                                    MOTE_LOAD_ODD MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, 25.4b [2])
                                        MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, 25.4b [3]) MOTE_END_ROW
            :
            : MOTE_ROW_OPERANDS
            : MOTE_ROW_CLOBBERS);
  } else {
    __asm__(MOTE_BEGIN_ROW MOTE_NIBBLES(24.4b [0], 24.4b [1]) MOTE_NIBBLES(24.4b [2], 24.4b [3])
                MOTE_NIBBLES(25.4b [0], 25.4b [1]) MOTE_NIBBLES(25.4b [2], 25.4b [3]) MOTE_END_ROW
            :
            : MOTE_ROW_OPERANDS
            : MOTE_ROW_CLOBBERS);
  }
}

#undef MOTE_BEGIN_ROW
#undef MOTE_END_ROW
#undef MOTE_NIBBLES
#undef MOTE_ROW_OPERANDS
#undef MOTE_ROW_CLOBBERS

struct Sdot {
  static constexpr uint32_t kRows = 4, kByteRows = 4, kLeastByteRows = 1, kUnpackRows = 12;
  template <class Source, uint32_t R>
  static constexpr bool kAddsGroups =
      R == 4 ? Source::kGroups == 1 || Source::Weights::kBiased : R == 1 && Source::kGroups == 2;

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

  template <uint32_t R, class Start>
  MOTE_INLINE static void begin([[maybe_unused]] const Start (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
    each_constant<R>([&](auto r) MOTE_INLINE {
      each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
        if constexpr (std::is_same_v<Start, AtZero>) {
          d[r][v] = vdupq_n_s32(0);
        } else {
          d[r][v] = start[r];
        }
      });
    });
  }

  template <uint32_t R, class Start>
  MOTE_INLINE static void dots(const uint8_t (&nibbles)[4][16][4], const char* const (&from)[R],
                               const Start (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
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

  template <uint32_t R, class Start>
  MOTE_INLINE static void dots(const int8_t (&q)[8][16][4], const char* const (&from)[R],
                               const Start (&start)[R], int32x4_t (&d)[R][kPanelVectors]) {
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

  template <uint32_t R, class Start>
  MOTE_INLINE static void dots(const SmallBytes& bytes, const char* const (&from)[R], const Start (&start)[R],
                               int32x4_t (&d)[R][kPanelVectors]) {
    dots(bytes.q, from, start, d);
  }

  template <uint32_t R>
  static constexpr bool kTakesRows = R == 4;

  /// acc[r] += the group's products with R rows, scaled.
  template <class Source>
  MOTE_INLINE static void add_group(const typename Source::Cell& cell, size_t g, const char* const (&a)[4],
                                    const RowGroups<4>& rows, float (&acc)[4][kPanelRows]) {
    if constexpr (Source::kGroups == 1) {
      add_group_of_four<Source::kMinimum, false>(cell.weights.q, cell.scale[0], cell.scale[Source::kMinimum],
                                                 a, rows, acc);
    } else {
      add_group_of_four<false, true>(cell.q[g], cell.scale[g], nullptr, a, rows, acc);
    }
  }
  template <class Source>
  MOTE_INLINE static void add_group(const typename Source::Cell& cell, size_t g, const char* const (&a)[1],
                                    const RowGroups<1>& rows, float (&acc)[1][kPanelRows]) {
    add_group_of_one<typename Source::Weights>(cell, g, a[0], rows, acc[0]);
  }

  /// Of q8c: the sums of R rows, in memory from turn to turn: GCC 12 moves what it keeps in registers.
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
#undef MOTE_DOTS_EVEN
#undef MOTE_DOTS_ODD
#undef MOTE_LOAD_EVEN
#undef MOTE_LOAD_ODD
#undef MOTE_SCALE_ROW
#undef MOTE_ALL_VECTORS
