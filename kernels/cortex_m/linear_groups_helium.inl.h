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

/// Four halves as floats. GNU as up to 2.40 encodes VCVTB rightly of q0 alone.
static inline float32x4_t widen_halves(const uint16_t* halves) {
  register uint32x4_t both __asm__("q0") = vldrhq_u32(halves);
  __asm__("vcvtb.f32.f16 q0, q0" : "+w"(both));
  return vreinterpretq_f32_u32(both);
}

/// acc = fma(scale * scales of the four rows, dots, acc).
static inline float32x4_t add_group(float32x4_t acc, const uint16_t* scales, float scale,
                                    const int32_t (&dot)[kBlock]) {
  int32x4_t sums = vdupq_n_s32(dot[0]);
  sums = vsetq_lane_s32(dot[1], sums, 1);
  sums = vsetq_lane_s32(dot[2], sums, 2);
  sums = vsetq_lane_s32(dot[3], sums, 3);
  return vfmaq_f32(acc, vmulq_n_f32(widen_halves(scales), scale), vcvtq_f32_s32(sums));
}

/// Outputs [first, first + kBlock) of a panel from one row of activations. Out of line, so that its loop has
/// all registers.
template <class Weights, bool vectors>
[[gnu::noinline]] static void block_of_row(const typename Weights::Supercell* cells, uint32_t first,
                                           const ref::QuantizedRow& in, size_t groups, float* out) {
  float32x4_t acc = vdupq_n_f32(0.0f);
  const int8_t* q = in.q;
  const float* scale = in.scale;
  const int32_t* sum = in.sum;
  for (size_t g = 0; g < groups; ++g, q += kGroupColumns) {
    const typename Weights::Supercell& cell = cells[g / 2];
    const uint16_t* scales = cell.scale[g % 2] + first;
    int32_t dot[kBlock];
    Weights::dots(Weights::group(cell, g % 2) + 4 * first, Weights::load(q), *sum++, dot);
    if (vectors) {
      acc = add_group(acc, scales, *scale++, dot);
      continue;
    }
    for (uint32_t r = 0; r < kBlock; ++r) {
      const float both = *scale * f32_from_f16(scales[r]);
      acc[r] = __builtin_fmaf(both, static_cast<float>(dot[r]), acc[r]);
    }
    ++scale;
  }
  vst1q_f32(out, acc);
}

template <class Weights>
static inline void linear_groups(const LinearArgs& args, Range panels) {
  const auto cells = static_cast<size_t>(activation_padded(args.inputs) / kSupercellColumns);
  for (uint32_t t = 0; t < args.rows; ++t) {
    const ref::QuantizedRow in = ref::quantized_row(args, t);
    const bool vectors = vectors_do(in.scale, 2 * cells);
    ref::each_panel(args, panels, [&](uint32_t panel) {
      const auto* weight = static_cast<const typename Weights::Supercell*>(args.weight) + panel * cells;
      for (uint32_t first = 0; first < kPanelRows; first += kBlock) {
        const uint32_t output = panel * kPanelRows + first;
        const uint32_t count = cortex_m::outputs_of(args, output, kBlock);
        if (count == 0) return;
        float acc[kBlock];
        float* plain = cortex_m::plain_outputs(args, t, output, count == kBlock);
        float* out = plain != nullptr ? plain : acc;
        if (vectors) {
          block_of_row<Weights, true>(weight, first, in, 2 * cells, out);
        } else {
          block_of_row<Weights, false>(weight, first, in, 2 * cells, out);
        }
        if (plain == nullptr) cortex_m::finish_outputs(args, t, output, count, acc);
      }
    });
  }
}

}  // namespace mote::helium
