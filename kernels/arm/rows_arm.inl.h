// SPDX-License-Identifier: Apache-2.0
//
// The functions that AArch64's and ARMv7's vectors of rows (simd/ints.h) have in common, behind floats F.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_arm.inl.h"
#include "kernels/simd/ints.h"

namespace mote {
namespace {

template <class F>
struct RowsArm : F {
  using Float = float32x4_t;
  using Int = int32x4_t;
  struct Bytes {
    int8x16_t low, high;
  };
  using F::add;
  using F::max;
  using F::max_lanes;
  using F::store;

  static Float load_bytes(const int8_t* from) {
    int32_t word;
    memcpy(&word, from, sizeof word);
    const int16x8_t halves = vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(word)));
    return F::to_float(vmovl_s16(vget_low_s16(halves)));
  }
  static float half(uint16_t h) {
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(h))), 0);
  }
  static float sum_lanes(Float x) { return F::sum(x); }
  static Float first_of(uint32_t count, Float x, Float other) {
    return vbslq_f32(vcltq_u32(F::lane_numbers(), vdupq_n_u32(count)), x, other);
  }
  static Float swap_neighbours(Float x) { return vrev64q_f32(x); }
  static void store(uint16_t* to, Float x) { vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(x))); }

  static Int zero_int() { return vdupq_n_s32(0); }
  static Int magnitude(Float x) { return bits(F::abs(x)); }
  static Int max(Int a, Int b) { return vmaxq_s32(a, b); }
  static Int add(Int a, Int b) { return vaddq_s32(a, b); }
  static Float as_float(Int n) { return vreinterpretq_f32_s32(n); }
  static Int bits(Float x) { return vreinterpretq_s32_f32(x); }
  static void store(int32_t* to, Int n) { vst1q_s32(to, n); }

  static Bytes unless_zero(Float by, Bytes b) {
    const int8x16_t zero = vreinterpretq_s8_u32(vceqq_f32(by, F::set(0.0f)));
    return {vbicq_s8(b.low, zero), vbicq_s8(b.high, zero)};
  }
  static Int sum_by_lane(Bytes b) { return vpaddlq_s16(vpadalq_s8(vpaddlq_s8(b.low), b.high)); }
  static void store(int8_t* to, Bytes b) {
    vst1q_s8(to, b.low);
    vst1q_s8(to + 16, b.high);
  }
};

}  // namespace
}  // namespace mote
