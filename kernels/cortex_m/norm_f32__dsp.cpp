// SPDX-License-Identifier: Apache-2.0
//
// Four columns at a time, in the FPU's registers.
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/norm.inl.h"

namespace mote::dsp {
namespace {

/// The sum of term(sum, column) over n columns.
template <class Term>
inline float sum_terms(const float* v, uint32_t n, Term term) {
  float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
  const float* end = v + n;
  for (const float* whole = v + n / 4 * 4; v != whole; v += 4) {
    s0 = term(s0, v[0]);
    s1 = term(s1, v[1]);
    s2 = term(s2, v[2]);
    s3 = term(s3, v[3]);
  }
  for (; v != end; ++v) s0 = term(s0, *v);
  return (s0 + s1) + (s2 + s3);
}

struct Columns {
  static float sum(const float* v, uint32_t n) {
    return sum_terms(v, n, [](float s, float x) { return s + x; });
  }
  static float sum_squares(const float* v, uint32_t n, float centre) {
    return sum_terms(v, n, [centre](float s, float x) { return __builtin_fmaf(x - centre, x - centre, s); });
  }
  static void scale(const float* v, uint32_t n, float centre, float factor, const float* weight,
                    const float* bias, float* out) {
    const float* end = v + n;
    if (weight == nullptr || bias != nullptr) {
      for (; v != end; ++v) {
        const float scaled = (*v - centre) * factor * (weight == nullptr ? 1.0f : *weight++);
        *out++ = bias == nullptr ? scaled : scaled + *bias++;
      }
      return;
    }
    for (const float* whole = v + n / 4 * 4; v != whole; v += 4, weight += 4, out += 4) {
      const float a = (v[0] - centre) * factor, b = (v[1] - centre) * factor;
      const float c = (v[2] - centre) * factor, d = (v[3] - centre) * factor;
      out[0] = a * weight[0];
      out[1] = b * weight[1];
      out[2] = c * weight[2];
      out[3] = d * weight[3];
    }
    for (; v != end; ++v) *out++ = (*v - centre) * factor * *weight++;
  }
};

}  // namespace

void norm_f32(const NormArgs& args, Range rows, void*) { cortex_m::norm<Columns>(args, rows); }

}  // namespace mote::dsp
#endif
