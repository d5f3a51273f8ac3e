// SPDX-License-Identifier: Apache-2.0
//
// Elements of the supercells of 8 groups: q4k, q5k and q6k.
#pragma once

#include "kernels/reference/nibble.inl.h"
#include "kernels/reference/quantized_linear.inl.h"
#include "schema/block_formats.h"
#include "schema/f16.h"

namespace mote::ref {

struct ScaleAndMinimum {
  float scale, minimum;
};

/// Returns the scale and the minimum of a row's group. Both products are exact.
static inline ScaleAndMinimum scale_and_minimum(const WideScales& scales, size_t g, uint32_t row) {
  const uint32_t words[3] = {scales.steps[0][row], scales.steps[1][row], scales.steps[2][row]};
  const uint32_t tops = words[0] >> 24 | words[1] >> 24 << 8 | words[2] >> 24 << 16;
  const uint32_t steps = (g / 2 < 3 ? words[g / 2] : tops) >> (12 * (g % 2));
  return {f32_from_f16(scales.scale[row]) * static_cast<float>(steps & 63u),
          f32_from_f16(scales.minimum[row]) * static_cast<float>(steps >> 6 & 63u)};
}

/// The step of columns 16 `half` to 16 `half` + 15 of a q6k group.
static inline int32_t step(const SupercellQ6k& cell, size_t g, uint32_t row, uint32_t half) {
  return cell.steps[g / 2][row][2 * (g % 2) + half];
}

/// Column k of a group: 0 to 15, 0 to 31, -32 to 31.
static inline int32_t wide_q(const uint8_t (&nibbles)[4][16][4], uint32_t row, uint32_t k) {
  return nibble(nibbles, row, k);
}
static inline int32_t wide_q(const FiveBits& group, uint32_t row, uint32_t k) {
  return nibble(group.nibbles, row, k) | (group.fifth[row][k % 4] >> (k / 4) & 1) << 4;
}
static inline int32_t wide_q(const SixBits& group, uint32_t row, uint32_t k) {
  const int32_t high = group.high[k / 16][row][k % 4] >> (k / 4 % 4 * 2) & 3;
  return (nibble(group.nibbles, row, k) | high << 4) - 32;
}

/// All of a group: q[j][row][i] is column 4 j + i.
static inline void decode_group(const uint8_t (&nibbles)[4][16][4], int8_t (&q)[8][16][4]) {
  for (uint32_t j = 0; j < 8; ++j) {
    const uint32_t shift = j % 2 == 0 ? 0 : 4;
    for (uint32_t row = 0; row < kPanelRows; ++row) {
      for (uint32_t i = 0; i < 4; ++i)
        q[j][row][i] = static_cast<int8_t>(nibbles[j / 2][row][i] >> shift & 15);
    }
  }
}
static inline void decode_group(const FiveBits& group, int8_t (&q)[8][16][4]) {
  decode_group(group.nibbles, q);
  for (uint32_t j = 0; j < 8; ++j) {
    for (uint32_t row = 0; row < kPanelRows; ++row) {
      for (uint32_t i = 0; i < 4; ++i)
        q[j][row][i] = static_cast<int8_t>(q[j][row][i] | (group.fifth[row][i] >> j & 1) << 4);
    }
  }
}
static inline void decode_group(const SixBits& group, int8_t (&q)[8][16][4]) {
  decode_group(group.nibbles, q);
  for (uint32_t j = 0; j < 8; ++j) {
    for (uint32_t row = 0; row < kPanelRows; ++row) {
      for (uint32_t i = 0; i < 4; ++i) {
        const int32_t high = group.high[j / 4][row][i] >> (j % 4 * 2) & 3;
        q[j][row][i] = static_cast<int8_t>((q[j][row][i] | high << 4) - 32);
      }
    }
  }
}

/// dot[row] += the products of `quads` quads of columns.
static inline void add_quads(const int8_t (*q)[16][4], uint32_t quads, const int8_t* x,
                             int32_t (&dot)[kPanelRows]) {
  for (uint32_t j = 0; j < quads; ++j) {
    for (uint32_t row = 0; row < kPanelRows; ++row) {
      for (uint32_t i = 0; i < 4; ++i) dot[row] += q[j][row][i] * x[4 * j + i];
    }
  }
}

// ---- q4k and q5k ----

/// scale * q + minimum. The products are exact, so there is one rounding.
template <class Supercell>
static inline float value_with_minimum(const Supercell& cell, uint32_t g, uint32_t row, uint32_t k) {
  const ScaleAndMinimum w = scale_and_minimum(cell.scales, g, row);
  return w.scale * static_cast<float>(wide_q(cell.q[g], row, k)) + w.minimum;
}

/// acc = fma(scale_a * scale_w, q . q_a, acc), the dot product exact in int32, then
/// acc = fma(minimum_w, scale_a * (sum of q_a), acc).
template <class Supercell>
static inline void accumulate_with_minimum(const Supercell& cell, size_t g, const ActivationGroup& x,
                                           float (&acc)[kPanelRows]) {
  int8_t q[8][16][4];
  int32_t dot[kPanelRows] = {};
  decode_group(cell.q[g], q);
  add_quads(q, 8, x.q, dot);
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    const ScaleAndMinimum w = scale_and_minimum(cell.scales, g, r);
    acc[r] = __builtin_fmaf(x.scale * w.scale, static_cast<float>(dot[r]), acc[r]);
    acc[r] = __builtin_fmaf(w.minimum, x.scale * static_cast<float>(x.sum), acc[r]);
  }
}

}  // namespace mote::ref
