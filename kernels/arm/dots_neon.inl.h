// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h in 128 bits, without and with the dot product instruction. Both multiply signed
// bytes, so that weights need no bias. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_neon.inl.h"
#include "kernels/simd/linear_finish.inl.h"

namespace mote {
namespace {

struct DotsNeon {
  using Int = int32x4_t;  // 16 bytes or 4 int32
  using Float = float32x4_t;
  static constexpr uint32_t kVectors = 4;
  static constexpr uint32_t kWeightBias = 0;
  static constexpr uint32_t kRowPanels = 1;
  static constexpr uint32_t kPairRows = 1, kSingleRows = 4;
  static constexpr bool kUnpacks = false;
  static constexpr bool kUnrolls = true;
  static constexpr bool kUnrollsQuads = true;

  static Int load(const void* bytes) { return vld1q_s32(static_cast<const int32_t*>(bytes)); }
  static Int zero() { return vdupq_n_s32(0); }
  static Int set(int32_t value) { return vdupq_n_s32(value); }
  static Int broadcast_word(const char* bytes) {
    int32_t word;
    memcpy(&word, bytes, 4);
    return vdupq_n_s32(word);
  }

  static Int low_nibbles(Int v) { return vandq_s32(v, vdupq_n_s32(0x0F0F0F0F)); }
  static Int high_nibbles(Int v) { return vreinterpretq_s32_u8(vshrq_n_u8(vreinterpretq_u8_s32(v), 4)); }
  static Int dot(Int sum, Int w, Int a) {
    const int8x16_t x = vreinterpretq_s8_s32(w), y = vreinterpretq_s8_s32(a);
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    return vaddq_s32(sum, vpaddq_s32(low, vpaddlq_s16(vmull_high_s8(x, y))));
  }
  static void pin(Int&) {}
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return vmulq_n_s32(v, -static_cast<int32_t>(factor));
  }

  static Float set(float value) { return vdupq_n_f32(value); }
  static Float load_f32(const float* from) { return vld1q_f32(from); }
  static void store_f32(float* to, Float v) { vst1q_f32(to, v); }
  static Float load_f16(const uint16_t* from) { return FloatsNeon::load(from); }
  static Float convert(Int v) { return vcvtq_f32_s32(v); }
  static Float mul(Float a, Float b) { return vmulq_f32(a, b); }
  static Float add(Float a, Float b) { return vaddq_f32(a, b); }
  static Float fma(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
  static Float load_first(const float* from, uint32_t lanes) { return FloatsNeon::load_first(from, lanes); }
  static void store_first(float* to, uint32_t lanes, Float v) { FloatsNeon::store_first(to, lanes, v); }

  static void finish(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel, const float* sums) {
    linear_finish<FloatsNeon>(args, row, rows, panel, sums);
  }
};

#if defined(__ARM_FEATURE_DOTPROD)
struct DotsDotprod : DotsNeon {
  static Int dot(Int sum, Int w, Int a) {
    return vdotq_s32(sum, vreinterpretq_s8_s32(w), vreinterpretq_s8_s32(a));
  }
};
#endif

}  // namespace
}  // namespace mote
