// SPDX-License-Identifier: Apache-2.0
//
// Linear over groups of 32 columns by VMLADAV. Equals the reference bitwise.
//
// Vectors of floats take subnormals as 0. A scale of activations of at least 2^-70 makes every product and
// sum a multiple of 2^-117, so that none is subnormal; a row that has another scale, 0 and NaN aside, is
// summed by scalars.
#pragma once

#include "kernels/cortex_m/vmladav.inl.h"

namespace mote::helium {

struct Bytes {
  using Supercell = SupercellQ8;
  struct Inputs {
    int8x16_t first, second;
  };
  static inline Inputs load(const int8_t* q) { return {vldrbq_s8(q), vldrbq_s8(q + 16)}; }
  static const char* group(const SupercellQ8& cell, uint32_t g) {
    return reinterpret_cast<const char*>(cell.q[g]);
  }
  static inline void dots(const char* w, const Inputs& x, int32_t, int32_t (&dot)[kBlock]) {
    for (uint32_t r = 0; r < kBlock; ++r) dot[r] = 0;
    dots_of_bytes(words_at(w), x.first, x.second, dot);
  }
};

struct Nibbles {
  using Supercell = SupercellQ4;
  struct Inputs {
    int8x16_t low, high;
  };
  /// Words of 4 columns are of low and of high nibbles in turns.
  static inline Inputs load(const int8_t* q) {
    const int32x4x2_t words = vld2q_s32(reinterpret_cast<const int32_t*>(q));
    return {vreinterpretq_s8_s32(words.val[0]), vreinterpretq_s8_s32(words.val[1])};
  }
  static const char* group(const SupercellQ4& cell, uint32_t g) {
    return reinterpret_cast<const char*>(cell.nibbles[g]);
  }
  static inline void dots(const char* w, const Inputs& x, int32_t sum, int32_t (&dot)[kBlock]) {
    const uint32x4_t words = words_at(w);
    const int32_t start = -8 * sum;
    dot[0] = dot_of_nibbles<0>(words, x.low, x.high, start);
    dot[1] = dot_of_nibbles<1>(words, x.low, x.high, start);
    dot[2] = dot_of_nibbles<2>(words, x.low, x.high, start);
    dot[3] = dot_of_nibbles<3>(words, x.low, x.high, start);
  }
};

static inline bool vectors_do(const float* scales, size_t groups) {
  for (size_t g = 0; g < groups; ++g) {
    const float magnitude = __builtin_fabsf(scales[g]);
    if (magnitude < 0x1p-70f && magnitude != 0.0f) return false;
  }
  return true;
}

/// acc = fma(scale * scales of the four rows, dots, acc).
static inline float32x4_t add_group(float32x4_t acc, const uint16_t* scales, float scale,
                                    const int32_t (&dot)[kBlock]) {
  const int32x4_t sums = {dot[0], dot[1], dot[2], dot[3]};
  const float16x8_t halves = vreinterpretq_f16_u32(vldrhq_u32(scales));
  return vfmaq_f32(acc, vmulq_n_f32(vcvtbq_f32_f16(halves), scale), vcvtq_f32_s32(sums));
}

/// The outputs of a panel of one row of activations, in `out`.
template <class Weights>
static inline void panel_of_row(const typename Weights::Supercell* cells, const ref::QuantizedRow& in,
                                size_t groups, bool vectors, float (&out)[kPanelRows]) {
  float32x4_t acc[kPanelRows / kBlock];
  for (float32x4_t& sums : acc) sums = vdupq_n_f32(0.0f);
  for (size_t g = 0; g < groups; ++g) {
    const typename Weights::Supercell& cell = cells[g / 2];
    const typename Weights::Inputs x = Weights::load(in.q + g * kGroupColumns);
    const char* words = Weights::group(cell, g % 2);
    const uint16_t* scales = cell.scale[g % 2];
    const int32_t sum = in.sum[g];
    const float scale = in.scale[g];
#pragma GCC unroll 4
    for (uint32_t block = 0; block < kPanelRows / kBlock; ++block) {
      int32_t dot[kBlock];
      Weights::dots(words + 4 * kBlock * block, x, sum, dot);
      if (vectors) {
        acc[block] = add_group(acc[block], scales + kBlock * block, scale, dot);
        continue;
      }
      for (uint32_t r = 0; r < kBlock; ++r) {
        const float both = scale * f32_from_f16(scales[kBlock * block + r]);
        acc[block][r] = __builtin_fmaf(both, static_cast<float>(dot[r]), acc[block][r]);
      }
    }
  }
  for (uint32_t block = 0; block < kPanelRows / kBlock; ++block) vst1q_f32(out + kBlock * block, acc[block]);
}

template <class Weights>
static inline void linear_groups(const LinearArgs& args, Range panels) {
  const auto cells = static_cast<size_t>(activation_padded(args.inputs) / kSupercellColumns);
  for (uint32_t t = 0; t < args.rows; ++t) {
    const ref::QuantizedRow in = ref::quantized_row(args, t);
    const bool vectors = vectors_do(in.scale, 2 * cells);
    ref::each_panel(args, panels, [&](uint32_t panel) {
      const auto* weight = static_cast<const typename Weights::Supercell*>(args.weight) + panel * cells;
      float out[kPanelRows];
      if (vectors) {
        panel_of_row<Weights>(weight, in, 2 * cells, true, out);
      } else {
        panel_of_row<Weights>(weight, in, 2 * cells, false, out);
      }
      const uint32_t first = panel * kPanelRows;
      cortex_m::finish_outputs(args, t, first, cortex_m::outputs_of(args, first, kPanelRows), out);
    });
  }
}

}  // namespace mote::helium
