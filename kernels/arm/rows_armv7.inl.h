// SPDX-License-Identifier: Apache-2.0
//
// What the kernels that work on rows take besides floats (simd/floats.h, simd/ints.h), in ARMv7's vectors of
// 128 bits. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_armv7.inl.h"
#include "kernels/simd/ints.h"

namespace mote {
namespace {

struct RowsArmv7 : FloatsArmv7 {
  struct Bytes {
    int8x16_t low, high;
  };
  using FloatsArmv7::add;
  using FloatsArmv7::max;
  using FloatsArmv7::max_lanes;
  using FloatsArmv7::store;

  static Float load_bytes(const int8_t* from) {
    int32_t word;
    memcpy(&word, from, sizeof word);
    const int16x8_t halves = vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(word)));
    return to_float(vmovl_s16(vget_low_s16(halves)));
  }
  static float half(uint16_t h) {
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(h))), 0);
  }
  static float sum_lanes(Float x) { return sum(x); }
  static Float first_of(uint32_t count, Float x, Float other) {
    return vbslq_f32(vcltq_u32(lane_numbers(), vdupq_n_u32(count)), x, other);
  }
  static Float swap_neighbours(Float x) { return vrev64q_f32(x); }
  static Float load_twice(const float* from, uint32_t count) {
    const float32x2_t two = count >= 2 ? vld1_f32(from) : vget_low_f32(load_first(from, count));
    const float32x2x2_t twice = vzip_f32(two, two);
    return vcombine_f32(twice.val[0], twice.val[1]);
  }
  static Float sub_add(Float a, Float b) {
    static constexpr uint32_t kOdd[kLanes] = {0, UINT32_MAX, 0, UINT32_MAX};
    return vbslq_f32(vld1q_u32(kOdd), add(a, b), sub(a, b));
  }
  static void transpose(Float (&x)[kLanes]) {
    const float32x4x2_t a = vtrnq_f32(x[0], x[1]), b = vtrnq_f32(x[2], x[3]);
    x[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
    x[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
    x[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
    x[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
  }
  static void store(uint16_t* to, Float x) { vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(x))); }

  static Int zero_int() { return vdupq_n_s32(0); }
  static Int magnitude(Float x) { return bits(abs(x)); }
  static Int max(Int a, Int b) { return vmaxq_s32(a, b); }
  static Int add(Int a, Int b) { return vaddq_s32(a, b); }
  static int32_t max_lanes(Int n) {
    const int32x2_t two = vpmax_s32(vget_low_s32(n), vget_high_s32(n));
    return vget_lane_s32(vpmax_s32(two, two), 0);
  }
  static int32_t sum_lanes(Int n) {
    const int32x2_t two = vpadd_s32(vget_low_s32(n), vget_high_s32(n));
    return vget_lane_s32(vpadd_s32(two, two), 0);
  }
  static Int max_of_each(const Int x[kLanes]) {
    return of_each(x, [](int32x2_t a, int32x2_t b) { return vpmax_s32(a, b); });
  }
  static Int sum_of_each(const Int x[kLanes]) {
    return of_each(x, [](int32x2_t a, int32x2_t b) { return vpadd_s32(a, b); });
  }
  static Float as_float(Int n) { return vreinterpretq_f32_s32(n); }
  static Int bits(Float x) { return vreinterpretq_s32_f32(x); }
  static void store(int32_t* to, Int n) { vst1q_s32(to, n); }

  static Bytes round_to_bytes(const Float x[8], Float by) { return {sixteen(x, by), sixteen(x + 4, by)}; }
  static Bytes unless_zero(Float by, Bytes b) {
    const int8x16_t zero = vreinterpretq_s8_u32(vceqq_f32(by, set(0.0f)));
    return {vbicq_s8(b.low, zero), vbicq_s8(b.high, zero)};
  }
  static Int sum_by_lane(Bytes b) { return vpaddlq_s16(vpadalq_s8(vpaddlq_s8(b.low), b.high)); }
  static void store(int8_t* to, Bytes b) {
    vst1q_s8(to, b.low);
    vst1q_s8(to + 16, b.high);
  }

 private:
  template <class Combine>
  static Int of_each(const Int x[kLanes], Combine combine) {
    const auto one = [&](Int n) MOTE_INLINE { return combine(vget_low_s32(n), vget_high_s32(n)); };
    return vcombine_s32(combine(one(x[0]), one(x[1])), combine(one(x[2]), one(x[3])));
  }
  static int16x8_t eight(const Float x[2], Float by) {
    return vcombine_s16(vmovn_s32(to_int(mul(x[0], by))), vmovn_s32(to_int(mul(x[1], by))));
  }
  static int8x16_t sixteen(const Float x[4], Float by) {
    return vcombine_s8(vmovn_s16(eight(x, by)), vmovn_s16(eight(x + 2, by)));
  }
};

}  // namespace
}  // namespace mote
