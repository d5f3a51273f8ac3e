// SPDX-License-Identifier: Apache-2.0
//
// The functions that AArch64's and ARMv7's vectors of simd/floats.h have in common: Advanced SIMD in 128
// bits, which fuses multiply-add and converts halves. Everything has internal linkage: see "Kernels" in
// docs/design.md.
#pragma once

#include <arm_neon.h>
#include <string.h>

#include "kernels/simd/floats.h"

namespace mote {
namespace {

struct FloatsArm : FloatScores<FloatsArm> {
  using Float = float32x4_t;
  using Int = int32x4_t;
  using Dot = Float;
  using Total = Float;
  static constexpr uint32_t kLanes = 4;
  static constexpr uint32_t kVectors = 4;
  static constexpr bool kFused = true;
  static constexpr bool kLooksUp = false;

  static Float set(float value) { return vdupq_n_f32(value); }
  static Float load(const float* from) { return vld1q_f32(from); }
  static Float load(const uint16_t* half) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(half))); }
  template <class T>
  static Float load_first(const T* from, uint32_t count) {
    return count >= kLanes ? load(from) : load_few(from, count);
  }
  static void store(float* to, Float x) { vst1q_f32(to, x); }
  static void store_first(float* to, uint32_t count, Float x) {
    if (count >= kLanes) return store(to, x);
    store_few(to, count, x);
  }

  static Float add(Float a, Float b) { return vaddq_f32(a, b); }
  static Float sub(Float a, Float b) { return vsubq_f32(a, b); }
  static Float mul(Float a, Float b) { return vmulq_f32(a, b); }
  static Float fma(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
  static Float negated_fma(Float a, Float b, Float c) { return vfmsq_f32(c, a, b); }
  // The instructions for min and max give NaN where either is one.
  static Float min(Float a, Float b) { return where_less(a, b, a, b); }
  static Float max(Float a, Float b) { return where_less(b, a, a, b); }
  static Float where_less(Float a, Float b, Float yes, Float no) {
    return vbslq_f32(vcltq_f32(a, b), yes, no);
  }
  static Float abs(Float x) { return vabsq_f32(x); }
  static Float negate(Float x) { return vnegq_f32(x); }
  static Float copy_sign(Float magnitude, Float x) {
    return vbslq_f32(vdupq_n_u32(0x80000000u), x, magnitude);
  }

  static Float to_float(Int n) { return vcvtq_f32_s32(n); }
  static Float add_to_exponent(Float x, Int n) {
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), vshlq_n_s32(n, 23)));
  }

  static Float where_within(uint32_t begin, uint32_t end, uint32_t first, Float x, float other) {
    const uint32x4_t position = vaddq_u32(vdupq_n_u32(first), lane_numbers());
    const uint32x4_t within =
        vandq_u32(vcgeq_u32(position, vdupq_n_u32(begin)), vcltq_u32(position, vdupq_n_u32(end)));
    return vbslq_f32(within, x, set(other));
  }
  static Total add_weights(Total sums, Float x) { return add(sums, x); }

 protected:
  static uint32x4_t lane_numbers() {
    static constexpr uint32_t kNumbers[kLanes] = {0, 1, 2, 3};
    return vld1q_u32(kNumbers);
  }

 private:
  // There are no masked loads and stores. Not inline, because tails are many places and little time.
  template <class T>
  MOTE_OWN_REGISTERS static Float load_few(const T* from, uint32_t count) {
    T first[kLanes] = {};
    for (uint32_t i = 0; i < count; ++i) first[i] = from[i];
    return load(first);
  }
  MOTE_OWN_REGISTERS static void store_few(float* to, uint32_t count, Float x) {
    float all[kLanes];
    store(all, x);
    for (uint32_t i = 0; i < count; ++i) to[i] = all[i];
  }
};

}  // namespace
}  // namespace mote
