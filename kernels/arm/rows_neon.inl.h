// SPDX-License-Identifier: Apache-2.0
//
// The functions that the kernels which work on rows take besides floats (simd/floats.h, simd/ints.h), in
// AArch64's vectors of 128 bits. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_neon.inl.h"
#include "kernels/arm/rows_arm.inl.h"

namespace mote {
namespace {

struct RowsNeon : RowsArm<FloatsNeon> {
  using Base = RowsArm<FloatsNeon>;
  using Base::max_lanes;
  using Base::sum_lanes;

  static Float load_twice(const float* from, uint32_t count) {
    const Float two = count >= 2 ? vcombine_f32(vld1_f32(from), vdup_n_f32(0)) : load_first(from, count);
    return vzip1q_f32(two, two);
  }
  static Float sub_add(Float a, Float b) { return vtrn2q_f32(vrev64q_f32(sub(a, b)), add(a, b)); }
  static void transpose(Float (&x)[kLanes]) {
    const float64x2_t even01 = vreinterpretq_f64_f32(vtrn1q_f32(x[0], x[1]));
    const float64x2_t odd01 = vreinterpretq_f64_f32(vtrn2q_f32(x[0], x[1]));
    const float64x2_t even23 = vreinterpretq_f64_f32(vtrn1q_f32(x[2], x[3]));
    const float64x2_t odd23 = vreinterpretq_f64_f32(vtrn2q_f32(x[2], x[3]));
    x[0] = vreinterpretq_f32_f64(vzip1q_f64(even01, even23));
    x[1] = vreinterpretq_f32_f64(vzip1q_f64(odd01, odd23));
    x[2] = vreinterpretq_f32_f64(vzip2q_f64(even01, even23));
    x[3] = vreinterpretq_f32_f64(vzip2q_f64(odd01, odd23));
  }

  static int32_t max_lanes(Int n) { return vmaxvq_s32(n); }
  static int32_t sum_lanes(Int n) { return vaddvq_s32(n); }
  static Int max_of_each(const Int x[kLanes]) {
    return vpmaxq_s32(vpmaxq_s32(x[0], x[1]), vpmaxq_s32(x[2], x[3]));
  }
  static Int sum_of_each(const Int x[kLanes]) {
    return vpaddq_s32(vpaddq_s32(x[0], x[1]), vpaddq_s32(x[2], x[3]));
  }

  static Bytes round_to_bytes(const Float x[8], Float by) { return {sixteen(x, by), sixteen(x + 4, by)}; }

 private:
  static int16x8_t eight(const Float x[2], Float by) {
    return vqmovn_high_s32(vqmovn_s32(to_int(mul(x[0], by))), to_int(mul(x[1], by)));
  }
  static int8x16_t sixteen(const Float x[4], Float by) {
    return vqmovn_high_s16(vqmovn_s16(eight(x, by)), eight(x + 2, by));
  }
};

}  // namespace
}  // namespace mote
