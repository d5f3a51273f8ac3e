// SPDX-License-Identifier: Apache-2.0
//
// What the kernels that work on rows take besides floats (simd/floats.h, simd/ints.h), in AArch64's vectors
// of 128 bits. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_neon.inl.h"
#include "kernels/simd/ints.h"

namespace mote {
namespace {

struct RowsNeon : FloatsNeon {
  struct Bytes {
    int8x16_t low, high;
  };
  using FloatsNeon::add;
  using FloatsNeon::max;
  using FloatsNeon::max_lanes;
  using FloatsNeon::store;

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
  static void store(uint16_t* to, Float x) { vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(x))); }

  static Int zero_int() { return vdupq_n_s32(0); }
  static Int magnitude(Float x) { return bits(abs(x)); }
  static Int max(Int a, Int b) { return vmaxq_s32(a, b); }
  static Int add(Int a, Int b) { return vaddq_s32(a, b); }
  static int32_t max_lanes(Int n) { return vmaxvq_s32(n); }
  static int32_t sum_lanes(Int n) { return vaddvq_s32(n); }
  static Int max_of_each(const Int x[kLanes]) {
    return vpmaxq_s32(vpmaxq_s32(x[0], x[1]), vpmaxq_s32(x[2], x[3]));
  }
  static Int sum_of_each(const Int x[kLanes]) {
    return vpaddq_s32(vpaddq_s32(x[0], x[1]), vpaddq_s32(x[2], x[3]));
  }
  static Float as_float(Int n) { return vreinterpretq_f32_s32(n); }
  static Int bits(Float x) { return vreinterpretq_s32_f32(x); }
  static void store(int32_t* to, Int n) { vst1q_s32(to, n); }

  static Bytes round_to_bytes(const Float x[8], Float by) { return {sixteen(x, by), sixteen(x + 4, by)}; }
  static Bytes unless_zero(Float by, Bytes b) {
    const int8x16_t zero = vreinterpretq_s8_u32(vceqzq_f32(by));
    return {vbicq_s8(b.low, zero), vbicq_s8(b.high, zero)};
  }
  static Int sum_by_lane(Bytes b) { return vpaddlq_s16(vpadalq_s8(vpaddlq_s8(b.low), b.high)); }
  static void store(int8_t* to, Bytes b) {
    vst1q_s8(to, b.low);
    vst1q_s8(to + 16, b.high);
  }

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
