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

/// Row r of the block, the columns from 16 * half on.
template <int r, int half>
static inline int8x16_t gather_row(uint32x4_t words) {
  return vreinterpretq_s8_s32(vldrwq_gather_base_s32(words, half * 256 + r * 4));
}

/// Dot products of 32 columns of 8 bits of four rows, added to dot.
static inline void dots_of_bytes(uint32x4_t words, int8x16_t x0, int8x16_t x1, int32_t (&dot)[kBlock]) {
  dot[0] = vmladavaq_s8(dot[0], (gather_row<0, 0>(words)), x0);
  dot[1] = vmladavaq_s8(dot[1], (gather_row<1, 0>(words)), x0);
  dot[2] = vmladavaq_s8(dot[2], (gather_row<2, 0>(words)), x0);
  dot[3] = vmladavaq_s8(dot[3], (gather_row<3, 0>(words)), x0);
  dot[0] = vmladavaq_s8(dot[0], (gather_row<0, 1>(words)), x1);
  dot[1] = vmladavaq_s8(dot[1], (gather_row<1, 1>(words)), x1);
  dot[2] = vmladavaq_s8(dot[2], (gather_row<2, 1>(words)), x1);
  dot[3] = vmladavaq_s8(dot[3], (gather_row<3, 1>(words)), x1);
}

/// Of row r, 4 bits: `low` and `high` are the activations of low and of high nibbles.
template <int r>
static inline int32_t dot_of_nibbles(uint32x4_t words, int8x16_t low, int8x16_t high, int32_t dot) {
  const uint8x16_t both = vreinterpretq_u8_s8((gather_row<r, 0>(words)));
  dot = vmladavaq_s8(dot, vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15))), low);
  return vmladavaq_s8(dot, vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), high);
}

}  // namespace mote::helium
