// SPDX-License-Identifier: Apache-2.0
//
// Four columns at a time, the last under a predicate. Subnormals are taken as 0.
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/floats_helium.inl.h"
#include "kernels/cortex_m/norm.inl.h"

namespace mote::helium {
namespace {

struct Columns {
  static float sum(const float* v, uint32_t n) {
    float32x4_t sums = vdupq_n_f32(0.0f);
    for (uint32_t i = 0; i < n; i += 4) sums = vaddq_f32(sums, vld1q_z_f32(v + i, vctp32q(n - i)));
    return sum_lanes(sums);
  }

  static float sum_squares(const float* v, uint32_t n, float centre) {
    float32x4_t sums = vdupq_n_f32(0.0f);
    for (uint32_t i = 0; i < n; i += 4) {
      const mve_pred16_t some = vctp32q(n - i);
      const float32x4_t x = vsubq_n_f32(vld1q_z_f32(v + i, some), centre);
      sums = vfmaq_m_f32(sums, x, x, some);
    }
    return sum_lanes(sums);
  }

  static void scale(const float* v, uint32_t n, float centre, float factor, const float* weight,
                    const float* bias, float* out) {
    for (uint32_t i = 0; i < n; i += 4) {
      const mve_pred16_t some = vctp32q(n - i);
      float32x4_t x = vmulq_n_f32(vsubq_n_f32(vld1q_z_f32(v + i, some), centre), factor);
      if (weight != nullptr) x = vmulq_f32(x, vld1q_z_f32(weight + i, some));
      if (bias != nullptr) x = vaddq_f32(x, vld1q_z_f32(bias + i, some));
      vst1q_p_f32(out + i, x, some);
    }
  }
};

}  // namespace

void norm_f32(const NormArgs& args, Range rows, void*) { cortex_m::norm<Columns>(args, rows); }

}  // namespace mote::helium
#endif
