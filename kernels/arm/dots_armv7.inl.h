// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h in ARMv7's vectors of 128 bits: bytes are widened to int16 by their products.
// Scales are multiplied one by one, because vectors take subnormals as 0: results equal the reference's bits.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/dots_arm.inl.h"
#include "kernels/arm/floats_armv7.inl.h"
#include "kernels/simd/linear_finish.inl.h"

namespace mote {
namespace {

struct DotsArmv7 : DotIntsArm {
  struct Float {
    float lane[4];
  };
  static constexpr uint32_t kSingleRows = 2;

  static Int dot(Int sum, Int w, Int a) {
    const int8x16_t x = vreinterpretq_s8_s32(w), y = vreinterpretq_s8_s32(a);
    const int32x2_t low = columns(vget_low_s8(x), vget_low_s8(y)),
                    high = columns(vget_high_s8(x), vget_high_s8(y));
    return vaddq_s32(sum, vcombine_s32(low, high));
  }

  using DotIntsArm::set;
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
  /// Returns the dot products of two words.
  static int32x2_t columns(int8x8_t w, int8x8_t a) {
    const int32x4_t pairs = vpaddlq_s16(vmull_s8(w, a));
    return vpadd_s32(vget_low_s32(pairs), vget_high_s32(pairs));
  }
};

}  // namespace
}  // namespace mote
