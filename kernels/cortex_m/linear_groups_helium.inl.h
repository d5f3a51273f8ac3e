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
  static constexpr uint32_t kGroupBytes = sizeof(SupercellQ8::q) / 2;
  static inline int32x4_t dots(uint32x4_t words, const int8_t* q, int32_t) {
    return dots_of_bytes(words, vldrbq_s8(q), vldrbq_s8(q + 16));
  }
};

struct Nibbles {
  using Supercell = SupercellQ4;
  static constexpr uint32_t kGroupBytes = sizeof(SupercellQ4::nibbles) / 2;
  /// Words of 4 columns are of low and of high nibbles in turns. Nibbles are stored with an offset of 8.
  static inline int32x4_t dots(uint32x4_t words, const int8_t* q, int32_t sum) {
    const int32x4x2_t in = vld2q_s32(reinterpret_cast<const int32_t*>(q));
    const int32x4_t dots =
        dots_of_nibbles(words, vreinterpretq_s8_s32(in.val[0]), vreinterpretq_s8_s32(in.val[1]));
    return vsubq_n_s32(dots, 8 * sum);
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
template <bool vectors>
static inline float32x4_t add_group(float32x4_t acc, const uint16_t* scales, float scale, int32x4_t dots) {
  if (vectors) return vfmaq_f32(acc, vmulq_n_f32(widen_halves(scales), scale), vcvtq_f32_s32(dots));
  int32_t dot[kBlock];
  float sums[kBlock];
  vst1q_s32(dot, dots);
  vst1q_f32(sums, acc);
  for (uint32_t r = 0; r < kBlock; ++r)
    sums[r] = __builtin_fmaf(scale * f32_from_f16(scales[r]), static_cast<float>(dot[r]), sums[r]);
  return vld1q_f32(sums);
}

/// The first `blocks` times kBlock outputs of a panel from one row of activations. Out of line, so that its
/// loops have all registers.
template <class Weights, bool vectors>
[[gnu::noinline]] static void panel_of_row(const typename Weights::Supercell* panel, uint32_t blocks,
                                           const ref::QuantizedRow& in, size_t cells, float* out) {
  constexpr uint32_t kCellBytes = sizeof(typename Weights::Supercell);
  const uint16_t* first_scales = panel->scale[0];
  const char* first_words = reinterpret_cast<const char*>(panel + 1) - 2 * Weights::kGroupBytes;
  for (; blocks > 0; --blocks) {
    float32x4_t acc = vdupq_n_f32(0.0f);
    const int8_t* q = in.q;
    const float* scale = in.scale;
    const int32_t* sum = in.sum;
    const uint16_t* scales = first_scales;
    uint32x4_t words = words_at(first_words);
    for (size_t cell = cells; cell > 0; --cell) {
      acc = add_group<vectors>(acc, scales, scale[0], Weights::dots(words, q, sum[0]));
      words = vaddq_n_u32(words, Weights::kGroupBytes);
      acc = add_group<vectors>(acc, scales + kPanelRows, scale[1],
                               Weights::dots(words, q + kGroupColumns, sum[1]));
      words = vaddq_n_u32(words, kCellBytes - Weights::kGroupBytes);
      scales += kCellBytes / sizeof *scales;
      q += kSupercellColumns;
      scale += 2;
      sum += 2;
    }
    vst1q_f32(out, acc);
    out += kBlock;
    first_scales += kBlock;
    first_words += kBlock * 4;
  }
}

/// As cortex_m::finish_outputs; a whole panel to which at most a residual is added, by vectors.
static inline void finish_panel(const LinearArgs& args, uint32_t row, uint32_t first, uint32_t count,
                                const float* dots) {
  const bool adds = args.bias == nullptr && args.activation == Activation::none &&
                    args.residual.data != nullptr && count == kPanelRows;
  if (!adds) return cortex_m::finish_outputs(args, row, first, count, dots);
  float* out = args.out[row] + first;
  const float* residual = args.residual[row] + first;
  for (uint32_t i = 0; i < kPanelRows; i += 4)
    vst1q_f32(out + i, vaddq_f32(vld1q_f32(dots + i), vld1q_f32(residual + i)));
}

/// `kPanel`: what panel_of_row of the weights computes, by vectors.
template <class Weights, auto kPanel = &panel_of_row<Weights, true>>
static inline void linear_groups(const LinearArgs& args, Range panels) {
  const auto cells = static_cast<size_t>(activation_padded(args.inputs) / kSupercellColumns);
  for (uint32_t t = 0; t < args.rows; ++t) {
    const ref::QuantizedRow in = ref::quantized_row(args, t);
    const auto run = vectors_do(in.scale, 2 * cells) ? kPanel : &panel_of_row<Weights, false>;
    cortex_m::each_panel_of_cells<typename Weights::Supercell>(
        args, t, panels, cells,
        [&](const auto* weight, uint32_t count, float* out) {
          run(weight, (count + kBlock - 1) / kBlock, in, cells, out);
        },
        [&](uint32_t output, uint32_t count, const float* dots) {
          finish_panel(args, t, output, count, dots);
        });
  }
}

}  // namespace mote::helium
