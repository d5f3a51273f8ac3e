// SPDX-License-Identifier: Apache-2.0
//
// A quad is loaded as a word, and each of its bytes becomes a float of the FPU.
#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_FMA)
#include "kernels/cortex_m/attention_i8.inl.h"
#include "kernels/cortex_m/smlad.inl.h"

namespace mote::dsp {
namespace {

template <int byte>
inline float byte_of(uint32_t word) {
  return static_cast<float>(static_cast<int8_t>(word >> 8 * byte));
}

struct Quads {
  static inline void dots(const float* q, const KvQuad* keys, uint32_t columns, float (&dots)[4]) {
    float sums[4] = {};
    for (uint32_t e = 0; e < columns; e += 4, keys += 16) {
#pragma GCC unroll 4
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t word = load_word(keys + i) ^ 0x80808080u;  // bytes are stored plus 128
        sums[i] = __builtin_fmaf(q[e], byte_of<0>(word), sums[i]);
        sums[i] = __builtin_fmaf(q[e + 1], byte_of<1>(word), sums[i]);
        sums[i] = __builtin_fmaf(q[e + 2], byte_of<2>(word), sums[i]);
        sums[i] = __builtin_fmaf(q[e + 3], byte_of<3>(word), sums[i]);
      }
    }
    for (uint32_t i = 0; i < 4; ++i) dots[i] = sums[i];
  }

  static inline float weigh(float* scores, uint32_t count, float maximum) {
    float sum = 0.0f;
    for (float* end = scores + count; scores != end; ++scores) {
      *scores = cortex_m::exp_not_large(*scores - maximum);
      sum += *scores;
    }
    return sum;
  }

  static inline void add(const float (&weights)[4], const KvQuad* values, uint32_t columns, float* out) {
    const float w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (uint32_t e = 0; e < columns; ++e) {
      const uint32_t word = load_word(values + e);
      float sum = __builtin_fmaf(w0, byte_of<0>(word), out[e]);
      sum = __builtin_fmaf(w1, byte_of<1>(word), sum);
      sum = __builtin_fmaf(w2, byte_of<2>(word), sum);
      out[e] = __builtin_fmaf(w3, byte_of<3>(word), sum);
    }
  }
};

}  // namespace

void attention_f32_i8(const AttentionArgs& args, Range units, void* scratch) {
  ref::attention_by<cortex_m::attend<Quads>>(args, units, static_cast<float*>(scratch));
}

uint64_t attention_f32_i8_scratch(const ScratchShape& shape) { return ref::attention_scratch(shape); }

}  // namespace mote::dsp
#endif
