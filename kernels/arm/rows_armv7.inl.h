// SPDX-License-Identifier: Apache-2.0
//
// The functions that the kernels which work on rows take besides floats (simd/floats.h, simd/ints.h), in
// ARMv7's vectors of 128 bits. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_armv7.inl.h"
#include "kernels/arm/rows_arm.inl.h"

namespace mote {
namespace {

struct RowsArmv7 : RowsArm<FloatsArmv7> {
  using Base = RowsArm<FloatsArmv7>;
  using Base::max_lanes;
  using Base::store;
  using Base::sum_lanes;

  /// Stores f16. ARMv7's vectors make each NaN the default one: they are replaced by those of f16_from_f32.
  static void store(uint16_t* to, Float x) {
    const uint32x4_t word = vreinterpretq_u32_f32(x);
    const uint32x4_t sign = vandq_u32(vshrq_n_u32(word, 16), vdupq_n_u32(0x8000));
    const uint32x4_t payload = vandq_u32(vshrq_n_u32(word, 13), vdupq_n_u32(0x3FF));
    const uint32x4_t nan = vorrq_u32(vorrq_u32(sign, payload), vdupq_n_u32(0x7E00));
    const uint16x4_t is_number = vmovn_u32(vceqq_f32(x, x));
    vst1_u16(to, vbsl_u16(is_number, vreinterpret_u16_f16(vcvt_f16_f32(x)), vmovn_u32(nan)));
  }

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

  static Bytes round_to_bytes(const Float x[8], Float by) { return {sixteen(x, by), sixteen(x + 4, by)}; }

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
