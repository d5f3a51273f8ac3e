// SPDX-License-Identifier: Apache-2.0
//
// Four rows: of types with groups by half a panel, so that registers hold all sums; of q8c, whose int32 sums
// need no scales before the end, by a panel.
#pragma once

#include "kernels/arm/sdot_parts.inl.h"

#define MOTE_ALL_VECTORS                                                                                \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", \
      "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", \
      "v30", "v31"

namespace mote {
namespace {

// The products of half a panel and four rows, all in registers: acc is v0 to v7 (of row r v2r and v2r+1), the
// group's products v8 to v15, 4 columns of weights v16 and v17, the next v18 and v19, and so on to v23;
// activations are v24 to v31.
#define MOTE_HALF_DOTS(w0, w1, a0, a1, a2, a3, lane)                                                    \
  "sdot v8.4s, v" #w0 ".16b, v" #a0 ".4b[" #lane "]\nsdot v9.4s, v" #w1 ".16b, v" #a0 ".4b[" #lane      \
  "]\nsdot v10.4s, v" #w0 ".16b, v" #a1 ".4b[" #lane "]\nsdot v11.4s, v" #w1 ".16b, v" #a1 ".4b[" #lane \
  "]\nsdot v12.4s, v" #w0 ".16b, v" #a2 ".4b[" #lane "]\nsdot v13.4s, v" #w1 ".16b, v" #a2 ".4b[" #lane \
  "]\nsdot v14.4s, v" #w0 ".16b, v" #a3 ".4b[" #lane "]\nsdot v15.4s, v" #w1 ".16b, v" #a3 ".4b[" #lane \
  "]\n"
#define MOTE_HALF_LOAD(w0, w1, at) "ldp q" #w0 ", q" #w1 ", [%[w], " at "]\n"
/// The products of a group whose weights are `at` bytes behind %[w].
#define MOTE_HALF_GROUP(at) \
  "ldp q24, q25, [%[a0]], 32\nldp q26, q27, [%[a1]], 32\nldp q28, q29, [%[a2]], 32\nldp q30, q31, [%[a3]], " \
  "32\n" MOTE_HALF_LOAD(16, 17, #at) MOTE_HALF_LOAD(18, 19, #at "+64")                                        \
  "dup v8.4s, %w[start]\ndup v9.4s, %w[start]\ndup v10.4s, %w[start]\ndup v11.4s, %w[start]\n"                \
  "dup v12.4s, %w[start]\ndup v13.4s, %w[start]\ndup v14.4s, %w[start]\ndup v15.4s, %w[start]\n"             \
  MOTE_HALF_LOAD(20, 21, #at "+128") MOTE_HALF_DOTS(16, 17, 24, 26, 28, 30, 0)                                \
  MOTE_HALF_LOAD(22, 23, #at "+192") MOTE_HALF_DOTS(18, 19, 24, 26, 28, 30, 1)                                \
  MOTE_HALF_LOAD(16, 17, #at "+256") MOTE_HALF_DOTS(20, 21, 24, 26, 28, 30, 2)                                \
  MOTE_HALF_LOAD(18, 19, #at "+320") MOTE_HALF_DOTS(22, 23, 24, 26, 28, 30, 3)                                \
  MOTE_HALF_LOAD(20, 21, #at "+384") MOTE_HALF_DOTS(16, 17, 25, 27, 29, 31, 0)                                \
  MOTE_HALF_LOAD(22, 23, #at "+448") MOTE_HALF_DOTS(18, 19, 25, 27, 29, 31, 1)                                \
  MOTE_HALF_DOTS(20, 21, 25, 27, 29, 31, 2) MOTE_HALF_DOTS(22, 23, 25, 27, 29, 31, 3)
/// acc += the products, scaled by the weights' v16 and v17 and the rows' v20.
#define MOTE_HALF_SCALE                                                                           \
  "dup v19.4s, %w[start]\n"                                                                       \
  "fmul v24.4s, v16.4s, v20.s[0]\nfmul v25.4s, v17.4s, v20.s[0]\nfmul v26.4s, v16.4s, v20.s[1]\n" \
  "fmul v27.4s, v17.4s, v20.s[1]\nfmul v28.4s, v16.4s, v20.s[2]\nfmul v29.4s, v17.4s, v20.s[2]\n" \
  "fmul v30.4s, v16.4s, v20.s[3]\nfmul v31.4s, v17.4s, v20.s[3]\n"                                \
  "fsub v8.4s, v8.4s, v19.4s\nfsub v9.4s, v9.4s, v19.4s\nfsub v10.4s, v10.4s, v19.4s\n"           \
  "fsub v11.4s, v11.4s, v19.4s\nfsub v12.4s, v12.4s, v19.4s\nfsub v13.4s, v13.4s, v19.4s\n"       \
  "fsub v14.4s, v14.4s, v19.4s\nfsub v15.4s, v15.4s, v19.4s\n"                                    \
  "fmla v0.4s, v24.4s, v8.4s\nfmla v1.4s, v25.4s, v9.4s\nfmla v2.4s, v26.4s, v10.4s\n"            \
  "fmla v3.4s, v27.4s, v11.4s\nfmla v4.4s, v28.4s, v12.4s\nfmla v5.4s, v29.4s, v13.4s\n"          \
  "fmla v6.4s, v30.4s, v14.4s\nfmla v7.4s, v31.4s, v15.4s\n"
/// MOTE_HALF_SCALE with scales that are halves, `at` bytes behind %[scale].
#define MOTE_HALF_SCALE_HALVES(at) \
  "ldr q18, [%[scale], " #at       \
  "]\nldr q20, [%[rows]], 32\nfcvtl v16.4s, v18.4h\nfcvtl2 v17.4s, v18.8h\n" MOTE_HALF_SCALE

/// Half a panel of 4 rows: acc = the products of the groups of `turns` cells, scaled. Weights start at `w`,
/// and scales that are halves at `scale`; others lie behind each group's weights. Each turn prefetches
/// `count` lines where weights are in place.
template <class Source, bool kToL1>
MOTE_INLINE static inline void take_half_panel(const void* w, const void* scale, const char* const (&a)[4],
                                               const RowGroups<4>* rows, size_t turns, uint32_t count,
                                               const WeightsAhead& ahead, float* acc) {
  const char *at = ahead.at, *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
  __asm__ volatile(
      "movi v0.4s, 0\nmovi v1.4s, 0\nmovi v2.4s, 0\nmovi v3.4s, 0\n"
      "movi v4.4s, 0\nmovi v5.4s, 0\nmovi v6.4s, 0\nmovi v7.4s, 0\n"
      "1:\n"
      ".if %c[halves]\n"
      MOTE_PREFETCHES
      ".endif\n" MOTE_HALF_GROUP(0)
      ".if %c[halves]\n" MOTE_HALF_SCALE_HALVES(0) MOTE_HALF_GROUP(512) MOTE_HALF_SCALE_HALVES(32)
      "add %[scale], %[scale], %c[cell]\n"
      ".else\n"
      "ldp q16, q17, [%[w], 512]\nldp q20, q21, [%[rows]], 32\n" MOTE_HALF_SCALE
      ".if %c[minimum]\n"
      "ldp q22, q23, [%[w], 576]\n"
      "fmla v0.4s, v22.4s, v21.s[0]\nfmla v1.4s, v23.4s, v21.s[0]\nfmla v2.4s, v22.4s, v21.s[1]\n"
      "fmla v3.4s, v23.4s, v21.s[1]\nfmla v4.4s, v22.4s, v21.s[2]\nfmla v5.4s, v23.4s, v21.s[2]\n"
      "fmla v6.4s, v22.4s, v21.s[3]\nfmla v7.4s, v23.4s, v21.s[3]\n"
      ".endif\n"
      ".endif\n"
      "add %[w], %[w], %c[cell]\nsubs %[turns], %[turns], 1\nb.ne 1b\n"
      "stp q0, q1, [%[acc]]\nstp q2, q3, [%[acc], 64]\nstp q4, q5, [%[acc], 128]\nstp q6, q7, [%[acc], 192]\n"
      : [w] "+&r"(w), [scale] "+&r"(scale), [a0] "+&r"(a0), [a1] "+&r"(a1), [a2] "+&r"(a2), [a3] "+&r"(a3),
        [rows] "+&r"(rows), [turns] "+&r"(turns), [at] "+&r"(at)
      : [count] "r"(count), [step] "r"(ahead.step), [acc] "r"(acc), [start] "r"(kSumStart), [l1] "i"(kToL1),
        [halves] "i"(Source::kGroups == 2), [minimum] "i"(Source::kMinimum),
        [cell] "i"(sizeof(typename Source::Cell))
      : "memory", "cc", "x10", MOTE_ALL_VECTORS);
}
#undef MOTE_HALF_DOTS
#undef MOTE_HALF_LOAD
#undef MOTE_HALF_GROUP
#undef MOTE_HALF_SCALE
#undef MOTE_HALF_SCALE_HALVES

// The sums of q8c are v0 to v15.
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
/// The products of q8c: 16 columns of 4 rows.
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
      "1:\n" MOTE_PREFETCHES MOTE_DOTS_OF_FOUR MOTE_DOTS_OF_FOUR MOTE_DOTS_OF_FOUR MOTE_DOTS_OF_FOUR
      "subs %[turns], %[turns], 1\nb.ne 1b\n"
      "mov x10, %[total]\n"
      "st1 {v0.4s, v1.4s, v2.4s, v3.4s}, [x10], 64\nst1 {v4.4s, v5.4s, v6.4s, v7.4s}, [x10], 64\n"
      "st1 {v8.4s, v9.4s, v10.4s, v11.4s}, [x10], 64\nst1 {v12.4s, v13.4s, v14.4s, v15.4s}, [x10]\n"
      : [a0] "+&r"(a[0]), [a1] "+&r"(a[1]), [a2] "+&r"(a[2]), [a3] "+&r"(a[3]), [turns] "+&r"(turns),
        [at] "+&r"(at)
      : [w] "r"(w), [count] "r"(count), [step] "r"(ahead.step), [total] "r"(total), [l1] "i"(kToL1)
      : "memory", "cc", "x9", "x10", MOTE_ALL_VECTORS);
}
#undef MOTE_DOTS_OF_FOUR
#undef MOTE_DOTS_EVEN
#undef MOTE_DOTS_ODD
#undef MOTE_ALL_VECTORS

}  // namespace
}  // namespace mote
