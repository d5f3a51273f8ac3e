// SPDX-License-Identifier: Apache-2.0
//
// Vectors of four floats: exp, division, the largest magnitude. They take subnormals as 0 and have one NaN.
#pragma once

#include <arm_mve.h>

#include "kernels/cortex_m/elementary.inl.h"
#include "kernels/cortex_m/quantize_dsp.inl.h"

namespace mote::helium {

/// cortex_m::exp_not_large of each lane.
static inline float32x4_t exp_not_large(float32x4_t x) {
  using namespace cortex_m;
  const float32x4_t shifted = vfmaq_n_f32(vdupq_n_f32(kWhole), x, kPerLn2);
  const float32x4_t n = vsubq_n_f32(shifted, kWhole);
  const float32x4_t r = vfmaq_n_f32(vfmaq_n_f32(x, n, -kLn2), n, -kLn2Rest);
  float32x4_t p = vfmasq_n_f32(vdupq_n_f32(kP4), r, kP3);
  p = vfmasq_n_f32(p, r, kP2);
  p = vfmasq_n_f32(p, r, kP1);
  p = vfmasq_n_f32(p, r, kP0);
  p = vaddq_n_f32(vfmaq_f32(r, p, vmulq_f32(r, r)), 1.0f);
  const uint32x4_t exponents = vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23);
  p = vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(p), exponents));
  return vpselq_f32(vdupq_n_f32(0.0f), p, vcmpltq_n_f32(x, kLeastExp));
}

/// a / b. The FPU divides lanes, which are its registers.
static inline float32x4_t divide(float32x4_t a, float32x4_t b) {
  register float32x4_t dividend __asm__("q0") = a;
  register float32x4_t divisor __asm__("q1") = b;
  __asm__(
      "vdiv.f32 s0, s0, s4\n\t"
      "vdiv.f32 s1, s1, s5\n\t"
      "vdiv.f32 s2, s2, s6\n\t"
      "vdiv.f32 s3, s3, s7"
      : "+w"(dividend)
      : "w"(divisor));
  return dividend;
}

static inline float sum_lanes(float32x4_t x) {
  return (vgetq_lane_f32(x, 0) + vgetq_lane_f32(x, 1)) + (vgetq_lane_f32(x, 2) + vgetq_lane_f32(x, 3));
}

/// Returns the scale of n columns, a multiple of 4.
static inline ref::GroupScale group_scale(const float* x, uint32_t n) {
  uint32x4_t magnitudes = vdupq_n_u32(0);
  for (uint32_t i = 0; i < n; i += 4) {
    const uint32x4_t bits = vld1q_u32(reinterpret_cast<const uint32_t*>(x + i));
    magnitudes = vmaxq_u32(magnitudes, vandq_u32(bits, vdupq_n_u32(0x7FFFFFFFu)));
  }
  return dsp::scale_of_magnitude(vmaxvq_u32(0, magnitudes));
}

/// Four columns, quantized; all 0 where inverse is.
static inline int32x4_t quantized(const float* x, float inverse) {
  if (inverse == 0.0f) return vdupq_n_s32(0);
  return vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), inverse));
}

}  // namespace mote::helium
