// SPDX-License-Identifier: Apache-2.0
//
// A gather takes a byte of each of four quads: of keys a column of four positions, of values four columns of
// a position. Vectors of floats take subnormals as 0, which scores and outputs lose.
#if defined(__ARM_FEATURE_MVE)
#include "kernels/cortex_m/attention_i8.inl.h"
#include "kernels/cortex_m/floats_helium.inl.h"

namespace mote::helium {
namespace {

struct Quads {
  static inline void dots(const float* q, const KvQuad* keys, uint32_t columns, float (&dots)[4]) {
    const uint32x4_t quads = vidupq_n_u32(0, 4);
    const uint8_t* bytes = keys->bytes;
    float32x4_t sums = vdupq_n_f32(0.0f);
    for (uint32_t e = 0; e < columns; e += 4, bytes += 16 * sizeof(KvQuad)) {
#pragma GCC unroll 4
      for (uint32_t i = 0; i < 4; ++i) {
        const int32x4_t stored = vreinterpretq_s32_u32(vldrbq_gather_offset_u32(bytes + i, quads));
        sums = vfmaq_n_f32(sums, vcvtq_f32_s32(vsubq_n_s32(stored, 128)), q[e + i]);
      }
    }
    vst1q_f32(dots, sums);
  }

  static inline float weigh(float* scores, uint32_t count, float maximum) {
    float32x4_t sums = vdupq_n_f32(0.0f);
    for (uint32_t i = 0; i < count; i += 4) {
      const mve_pred16_t some = vctp32q(count - i);
      const float32x4_t weights = exp_not_large(vsubq_n_f32(vld1q_z_f32(scores + i, some), maximum));
      vst1q_p_f32(scores + i, weights, some);
      sums = vaddq_m_f32(sums, sums, weights, some);
    }
    return sum_lanes(sums);
  }

  static inline void add(const float (&weights)[4], const KvQuad* values, uint32_t columns, float* out) {
    const uint32x4_t quads = vidupq_n_u32(0, 4);
    const auto* bytes = reinterpret_cast<const int8_t*>(values->bytes);
    for (uint32_t e = 0; e < columns; e += 4, bytes += 4 * sizeof(KvQuad)) {
      float32x4_t sums = vld1q_f32(out + e);
#pragma GCC unroll 4
      for (uint32_t i = 0; i < 4; ++i) {
        const int32x4_t column = vldrbq_gather_offset_s32(bytes + i, quads);
        sums = vfmaq_n_f32(sums, vcvtq_f32_s32(column), weights[i]);
      }
      vst1q_f32(out + e, sums);
    }
  }
};

}  // namespace

void attention_f32_i8(const AttentionArgs& args, Range units, void* scratch) {
  ref::attention_by<cortex_m::attend<Quads>>(args, units, static_cast<float*>(scratch));
}

uint64_t attention_f32_i8_scratch(const ScratchShape& shape) { return ref::attention_scratch(shape); }

}  // namespace mote::helium
#endif
