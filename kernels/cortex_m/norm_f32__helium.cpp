// SPDX-License-Identifier: Apache-2.0
//
// Four columns at a time, the last under a predicate. Subnormals are taken as 0.
#if defined(__ARM_FEATURE_MVE)
#include <type_traits>

#include "kernels/cortex_m/floats_helium.inl.h"
#include "kernels/cortex_m/norm.inl.h"

namespace mote::helium {
namespace {

/// step(i, all) for each whole vector of n columns from i on; then step(i, some) under a predicate.
template <class Step>
inline void each_vector(uint32_t n, Step step) {
  uint32_t i = 0;
  for (; i + 4 <= n; i += 4) step(i, std::true_type());
  if (i < n) step(i, std::false_type());
}

/// Columns from v on, those behind `left` 0 where not all are there.
template <bool kAll>
inline float32x4_t load(const float* v, uint32_t left) {
  return kAll ? vld1q_f32(v) : vld1q_z_f32(v, vctp32q(left));
}

struct Columns {
  static float sum(const float* v, uint32_t n) {
    float32x4_t sums = vdupq_n_f32(0.0f);
    each_vector(n, [&](uint32_t i, auto all) { sums = vaddq_f32(sums, load<all>(v + i, n - i)); });
    return sum_lanes(sums);
  }

  static float sum_squares(const float* v, uint32_t n, float centre) {
    float32x4_t sums = vdupq_n_f32(0.0f);
    each_vector(n, [&](uint32_t i, auto all) {
      const float32x4_t x = vsubq_n_f32(load<all>(v + i, n - i), centre);
      sums = all ? vfmaq_f32(sums, x, x) : vfmaq_m_f32(sums, x, x, vctp32q(n - i));
    });
    return sum_lanes(sums);
  }

  static void scale(const float* v, uint32_t n, float centre, float factor, const float* weight,
                    const float* bias, float* out) {
    each_vector(n, [&](uint32_t i, auto all) {
      float32x4_t x = vmulq_n_f32(vsubq_n_f32(load<all>(v + i, n - i), centre), factor);
      if (weight != nullptr) x = vmulq_f32(x, load<all>(weight + i, n - i));
      if (bias != nullptr) x = vaddq_f32(x, load<all>(bias + i, n - i));
      if (all) {
        vst1q_f32(out + i, x);
      } else {
        vst1q_p_f32(out + i, x, vctp32q(n - i));
      }
    });
  }
};

}  // namespace

void norm_f32(const NormArgs& args, Range rows, void*) { cortex_m::norm<Columns>(args, rows); }

}  // namespace mote::helium
#endif
