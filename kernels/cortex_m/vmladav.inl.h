// SPDX-License-Identifier: Apache-2.0
//
// Dot products by VMLADAV, which adds the 16 products of two vectors of bytes. In P16K4 words of a row lie 64
// bytes apart, so a gather of four words is 16 columns of one row, and immediates reach the rows beside it.
#pragma once

#include <arm_mve.h>

#include "kernels/cortex_m/linear_finish.inl.h"

namespace mote::helium {

inline constexpr uint32_t kBlock = 4;  // outputs at a time: VMLADAV takes even registers alone

/// Addresses of the words of 16 columns of the row that begins at w.
static inline uint32x4_t words_at(const void* w) {
  return vaddq_n_u32(vidupq_n_u32(0, 8) << 3, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(w)));
}

// A row is a few statements of assembly: of intrinsics, compilers load all rows ahead, and then lack
// registers. The four sums become the lanes of a vector.
#define MOTE_HELIUM_LANES                     \
  "vmov %q[a][2], %q[a][0], %[d0], %[d2]\n\t" \
  "vmov %q[a][3], %q[a][1], %[d1], %[d3]\n\t"
#define MOTE_HELIUM_BYTES_OF_ROW(dot, offset) \
  "vldrw.u32 %q[a], [%q[words], #" offset     \
  "]\n\t"                                     \
  "vldrw.u32 %q[b], [%q[words], #256+" offset \
  "]\n\t"                                     \
  "vmladava.s8 " dot                          \
  ", %q[a], %q[x0]\n\t"                       \
  "vmladava.s8 " dot ", %q[b], %q[x1]\n\t"
#define MOTE_HELIUM_NIBBLES_OF_ROW(dot, offset) \
  "vldrw.u32 %q[a], [%q[words], #" offset       \
  "]\n\t"                                       \
  "vand %q[b], %q[a], %q[mask]\n\t"             \
  "vshr.u8 %q[a], %q[a], #4\n\t"                \
  "vmladav.s8 " dot                             \
  ", %q[b], %q[x0]\n\t"                         \
  "vmladava.s8 " dot ", %q[a], %q[x1]\n\t"

/// Adds the dot products of 32 columns of 8 bits to those of four rows.
static inline void add_dots_of_bytes(uint32x4_t words, int8x16_t x0, int8x16_t x1, int32_t (&dot)[kBlock]) {
  int8x16_t a, b;
  __asm__(MOTE_HELIUM_BYTES_OF_ROW("%[d0]", "0") MOTE_HELIUM_BYTES_OF_ROW("%[d1]", "4")
              MOTE_HELIUM_BYTES_OF_ROW("%[d2]", "8") MOTE_HELIUM_BYTES_OF_ROW("%[d3]", "12")
          : [d0] "+Te"(dot[0]), [d1] "+Te"(dot[1]), [d2] "+Te"(dot[2]), [d3] "+Te"(dot[3]), [a] "=&w"(a),
            [b] "=&w"(b)
          : [words] "w"(words), [x0] "w"(x0), [x1] "w"(x1)
          : "memory");
}

/// Dot products of four rows, 32 columns of 8 bits.
static inline int32x4_t dots_of_bytes(uint32x4_t words, int8x16_t x0, int8x16_t x1) {
  int32_t d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  int32x4_t a;
  int8x16_t b;
  __asm__(MOTE_HELIUM_BYTES_OF_ROW("%[d0]", "0") MOTE_HELIUM_BYTES_OF_ROW("%[d1]", "4")
              MOTE_HELIUM_BYTES_OF_ROW("%[d2]", "8") MOTE_HELIUM_BYTES_OF_ROW("%[d3]", "12") MOTE_HELIUM_LANES
          : [d0] "+Te"(d0), [d1] "+Te"(d1), [d2] "+Te"(d2), [d3] "+Te"(d3), [a] "=&w"(a), [b] "=&w"(b)
          : [words] "w"(words), [x0] "w"(x0), [x1] "w"(x1)
          : "memory");
  return a;
}

/// Returns the dot products of 4 bits as they are stored: x0 and x1 are the activations of low and of high
/// nibbles.
static inline int32x4_t dots_of_nibbles(uint32x4_t words, int8x16_t x0, int8x16_t x1) {
  int32_t d0, d1, d2, d3;
  int32x4_t a;
  int8x16_t b;
  __asm__(MOTE_HELIUM_NIBBLES_OF_ROW("%[d0]", "0") MOTE_HELIUM_NIBBLES_OF_ROW("%[d1]", "4")
              MOTE_HELIUM_NIBBLES_OF_ROW("%[d2]", "8") MOTE_HELIUM_NIBBLES_OF_ROW("%[d3]", "12")
                  MOTE_HELIUM_LANES
          : [d0] "=&Te"(d0), [d1] "=&Te"(d1), [d2] "=&Te"(d2), [d3] "=&Te"(d3), [a] "=&w"(a), [b] "=&w"(b)
          : [words] "w"(words), [x0] "w"(x0), [x1] "w"(x1), [mask] "w"(vdupq_n_u8(15))
          : "memory");
  return a;
}

}  // namespace mote::helium
