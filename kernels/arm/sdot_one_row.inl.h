// SPDX-License-Identifier: Apache-2.0
//
// A row by a panel, in one loop: with few instructions between products, which are what a core of 4 a cycle
// runs out of first (Cortex-A76).
#pragma once

#include "kernels/arm/sdot_parts.inl.h"

namespace mote {
namespace {

// The products of one row: acc is v28 to v31, a group's products v0 to v3, its activations v24 and v25, the
// row's scale v26, the number that minima multiply v27. Weights, from x9 on, are v16 to v23.
#define MOTE_ROW_BEGIN                                                                       \
  "ld1 {v24.16b, v25.16b}, [%[a]], 32\n"                                                     \
  ".if %c[starts]\n"                                                                         \
  "ldr w10, [%[rows], 4]\ndup v0.4s, w10\ndup v1.4s, w10\ndup v2.4s, w10\ndup v3.4s, w10\n"  \
  ".else\n"                                                                                  \
  "dup v0.4s, %w[start]\ndup v1.4s, %w[start]\ndup v2.4s, %w[start]\ndup v3.4s, %w[start]\n" \
  ".endif\n"                                                                                 \
  "ld2r {v26.4s, v27.4s}, [%[rows]], 8\n"
/// 8 columns of nibbles.
#define MOTE_ROW_NIBBLES(low, high)                                                                       \
  MOTE_LOAD_EVEN                                                                                          \
  "and v20.16b, v16.16b, %[fifteen].16b\nand v21.16b, v17.16b, %[fifteen].16b\n"                          \
  "and v22.16b, v18.16b, %[fifteen].16b\nand v23.16b, v19.16b, %[fifteen].16b\n"                          \
  "ushr v16.16b, v16.16b, 4\nushr v17.16b, v17.16b, 4\nushr v18.16b, v18.16b, 4\nushr v19.16b, v19.16b, " \
  "4\n" MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, low) MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, high)
/// 8 columns of int8.
#define MOTE_ROW_BYTES(even, odd)                                          \
  MOTE_LOAD_EVEN MOTE_LOAD_ODD MOTE_DOTS(0, 1, 2, 3, 16, 17, 18, 19, even) \
      MOTE_DOTS(0, 1, 2, 3, 20, 21, 22, 23, odd)
#define MOTE_ROW_GROUP                                                                          \
  MOTE_ROW_BEGIN                                                                                \
  ".if %c[bytes]\n" MOTE_ROW_BYTES(24.4b [0], 24.4b [1]) MOTE_ROW_BYTES(24.4b [2], 24.4b [3])   \
      MOTE_ROW_BYTES(25.4b [0], 25.4b [1])                                                      \
          MOTE_ROW_BYTES(25.4b [2], 25.4b [3]) ".else\n" MOTE_ROW_NIBBLES(24.4b [0], 24.4b [1]) \
              MOTE_ROW_NIBBLES(24.4b [2], 24.4b [3]) MOTE_ROW_NIBBLES(25.4b [0], 25.4b [1])     \
                  MOTE_ROW_NIBBLES(25.4b [2], 25.4b [3]) ".endif\n"
#define MOTE_ROW_HALVES(at)      \
  "ldp q16, q17, [%[cell], " #at \
  "]\n"                          \
  "fcvtl v20.4s, v16.4h\nfcvtl2 v21.4s, v16.8h\nfcvtl v22.4s, v17.4h\nfcvtl2 v23.4s, v17.8h\n"
/// acc += the products, scaled by what lies `at` bytes and, where there are minima, `least` bytes behind
/// %[cell].
#define MOTE_ROW_SCALE(at, least) \
  MOTE_ROW_HALVES(at)             \
  "fmul v20.4s, v20.4s, v26.4s\nfmul v21.4s, v21.4s, v26.4s\nfmul v22.4s, v22.4s, v26.4s\n" \
  "fmul v23.4s, v23.4s, v26.4s\n"                                                           \
  "fsub v0.4s, v0.4s, %[sum_start].4s\nfsub v1.4s, v1.4s, %[sum_start].4s\n"                        \
  "fsub v2.4s, v2.4s, %[sum_start].4s\nfsub v3.4s, v3.4s, %[sum_start].4s\n"                        \
  "fmla v28.4s, v20.4s, v0.4s\nfmla v29.4s, v21.4s, v1.4s\nfmla v30.4s, v22.4s, v2.4s\n"    \
  "fmla v31.4s, v23.4s, v3.4s\n"                                                            \
  ".if %c[minimum]\n" MOTE_ROW_HALVES(least)                                                \
  "fmla v28.4s, v20.4s, v27.4s\nfmla v29.4s, v21.4s, v27.4s\nfmla v30.4s, v22.4s, v27.4s\n" \
  "fmla v31.4s, v23.4s, v27.4s\n"                                                           \
  ".endif\n"

/// A row: acc = the products of the groups of `cells` cells, scaled. Each turn prefetches, of a row alone, a
/// cell ahead, else `count` lines.
template <class Format, bool kAlone, bool kToL1>
MOTE_INLINE static inline void take_row(const typename Format::Supercell* cell, const char* a,
                                        const RowGroups<1>* rows, size_t cells, uint32_t count,
                                        const WeightsAhead& ahead, float* acc) {
  using Cell = typename Format::Supercell;
  const char* at = ahead.at;
  __asm__ volatile(
      "movi v28.4s, 0\nmovi v29.4s, 0\nmovi v30.4s, 0\nmovi v31.4s, 0\n"
      "1:\n"
      ".if %c[alone]\n"
      ".irp line, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16\n"
      ".if 64 * \\line < %c[size]\nprfm pldl1keep, [%[cell], %c[far] + 64 * \\line]\n.endif\n"
      ".endr\n"
      ".else\n" MOTE_PREFETCHES
      ".endif\n"
      "add x9, %[cell], %c[weights]\n" MOTE_ROW_GROUP MOTE_ROW_SCALE(0, 64) MOTE_ROW_GROUP MOTE_ROW_SCALE(32, 96)
      "add %[cell], %[cell], %c[size]\nsubs %[cells], %[cells], 1\nb.ne 1b\n"
      "st1 {v28.4s, v29.4s, v30.4s, v31.4s}, [%[acc]]\n"
      : [cell] "+&r"(cell), [a] "+&r"(a), [rows] "+&r"(rows), [cells] "+&r"(cells), [at] "+&r"(at)
      : [count] "r"(count), [step] "r"(ahead.step), [acc] "r"(acc), [start] "r"(kSumStart),
        [sum_start] "w"(vdupq_n_u32(kSumStart)), [fifteen] "w"(vdupq_n_u8(15)), [l1] "i"(kToL1), [alone] "i"(kAlone),
        [far] "i"(kAheadOfOneRow), [size] "i"(sizeof(Cell)), [weights] "i"(Format::kMinimum ? 128 : 64),
        [bytes] "i"(Format::kBiased), [starts] "i"(Format::kOffset != 0), [minimum] "i"(Format::kMinimum)
      : "memory", "cc", "x9", "x10", "v0", "v1", "v2", "v3", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
        "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
#undef MOTE_ROW_BEGIN
#undef MOTE_ROW_NIBBLES
#undef MOTE_ROW_BYTES
#undef MOTE_ROW_GROUP
#undef MOTE_ROW_HALVES
#undef MOTE_ROW_SCALE

}  // namespace
}  // namespace mote
