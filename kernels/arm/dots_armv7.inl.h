// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h in ARMv7's vectors of 128 bits: bytes are widened to int16 by their products.
// Scales are multiplied one by one, because vectors take subnormals as 0: results equal the reference's bits.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_armv7.inl.h"
#include "kernels/simd/linear_finish.inl.h"

namespace mote {
namespace {

struct DotsArmv7 {
  using Int = int32x4_t;  // 16 bytes or 4 int32
  struct Float {
    float lane[4];
  };
  static constexpr uint32_t kVectors = 4;
  static constexpr uint32_t kWeightBias = 0;
  static constexpr uint32_t kRowPanels = 1;
  static constexpr uint32_t kPairRows = 1, kSingleRows = 2;
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
    const int32x2_t low = columns(vget_low_s8(x), vget_low_s8(y)),
                    high = columns(vget_high_s8(x), vget_high_s8(y));
    return vaddq_s32(sum, vcombine_s32(low, high));
  }
  static void pin(Int&) {}
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return vmulq_n_s32(v, -static_cast<int32_t>(factor));
  }

  static Float set(float value) { return {{value, value, value, value}}; }
  static Float load_f32(const float* from) { return {{from[0], from[1], from[2], from[3]}}; }
  static void store_f32(float* to, Float v) { memcpy(to, v.lane, sizeof v.lane); }
  static Float load_f16(const uint16_t* from) { return of(FloatsArmv7::load(from)); }
  static Float convert(Int v) { return of(vcvtq_f32_s32(v)); }
  static Float mul(Float a, Float b) {
    return make([&](uint32_t i) { return a.lane[i] * b.lane[i]; });
  }
  static Float add(Float a, Float b) {
    return make([&](uint32_t i) { return a.lane[i] + b.lane[i]; });
  }
  static Float fma(Float a, Float b, Float c) {
    return make([&](uint32_t i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }
  static Float load_first(const float* from, uint32_t lanes) {
    return of(FloatsArmv7::load_first(from, lanes));
  }
  static void store_first(float* to, uint32_t lanes, Float v) {
    FloatsArmv7::store_first(to, lanes, vld1q_f32(v.lane));
  }

  static void finish(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel, const float* sums) {
    linear_finish<FloatsArmv7>(args, row, rows, panel, sums);
  }

 private:
  static Float of(float32x4_t x) {
    Float to;
    vst1q_f32(to.lane, x);
    return to;
  }
  template <class Lane>
  MOTE_INLINE static Float make(const Lane& lane) {
    return {{lane(0), lane(1), lane(2), lane(3)}};
  }
  /// Of two words.
  static int32x2_t columns(int8x8_t w, int8x8_t a) {
    const int32x4_t pairs = vpaddlq_s16(vmull_s8(w, a));
    return vpadd_s32(vget_low_s32(pairs), vget_high_s32(pairs));
  }
};

}  // namespace
}  // namespace mote
