// SPDX-License-Identifier: Apache-2.0
//
// The parts that the loops of sdot_one_row.inl.h and sdot_four_rows.inl.h share: pieces of assembly, and
// where sums start.
#pragma once

#include "kernels/arm/linear_tiles.inl.h"

/// A row of a panel: sums d0 to d3 by the weights w0 to w3 and a lane.
#define MOTE_DOTS(d0, d1, d2, d3, w0, w1, w2, w3, a)                                             \
  "sdot v" #d0 ".4s, v" #w0 ".16b, v" #a "\nsdot v" #d1 ".4s, v" #w1 ".16b, v" #a "\nsdot v" #d2 \
  ".4s, v" #w2 ".16b, v" #a "\nsdot v" #d3 ".4s, v" #w3 ".16b, v" #a "\n"
#define MOTE_LOAD_EVEN "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [x9], 64\n"
#define MOTE_LOAD_ODD "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [x9], 64\n"
/// %[count] lines from %[at] on, each %[step] bytes behind the last.
#define MOTE_PREFETCHES                                                           \
  "mov w10, %w[count]\ncbz w10, 3f\n"                                             \
  "2:\n"                                                                          \
  ".if %c[l1]\nprfm pldl1keep, [%[at]]\n.else\nprfm pldl2keep, [%[at]]\n.endif\n" \
  "add %[at], %[at], %[step]\nsubs w10, w10, 1\nb.ne 2b\n"                        \
  "3:\n"

namespace mote {
namespace {

/// Where the dot products of a group start: 2^23 + 2^22 as a float. One below 2^22 in magnitude (they are
/// below 2^20) that is added to its bits is added to the float, so that subtracting it leaves the product as
/// a float, exactly. That takes half the time of a conversion, for which a core has a single pipe.
constexpr uint32_t kSumStart = 0x4B400000;

/// A vector from a general register; GCC would copy one from another, in the pipes that multiply.
MOTE_INLINE static inline int32x4_t start_vector(uint32_t start) {
  int32x4_t d;
  __asm__ volatile("dup %0.4s, %w1" : "=w"(d) : "r"(start));
  return d;
}

}  // namespace
}  // namespace mote
