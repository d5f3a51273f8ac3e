// SPDX-License-Identifier: Apache-2.0
//
// layer: weight * (v - mean) / sqrt(variance + eps) + bias; rms: weight * v / sqrt(mean(v^2) + eps) + bias;
// l2: weight
// * v / max(sqrt(sum of v^2), eps) + bias, for each group v of a row. The variance takes a second pass over v
// - mean: a single one loses it where the mean is large.
//
// Sums run in 4 registers, as many as an addition's latency, of 8 lanes: 32 columns a step; the tail is
// masked, one register at a time. A row is at most a few tens of KiB: the passes after the first read it from
// the L1 or L2 cache.
//
// A sum of n terms has at most n / 32 + 8 roundings, so the mean is within (n / 32 + 8) 2^-24 mean |v|, the
// variance of its own mean within (n / 32 + 10) 2^-24 relative; out adds 4 roundings. The reference's sums,
// one after the other, have up to n roundings: that, not these, is the larger part of a difference.
#include <assert.h>
#include <math.h>

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

constexpr uint32_t kSums = 4;

/// The sum of term(v) over n columns.
template <class Term>
static inline float sum_terms(const float* v, uint32_t n, Term term) {
  __m256 sum[kSums];
  MOTE_UNROLL for (uint32_t k = 0; k < kSums; ++k) sum[k] = _mm256_setzero_ps();
  uint32_t i = 0;
  for (; i + kSums * kLanes <= n; i += kSums * kLanes) {
    MOTE_UNROLL for (uint32_t k = 0; k < kSums; ++k) {
      sum[k] = term(sum[k], _mm256_loadu_ps(v + i + k * kLanes));
    }
  }
  for (; i + kLanes <= n; i += kLanes) sum[0] = term(sum[0], _mm256_loadu_ps(v + i));
  if (i < n) {
    const __m256i mask = tail_mask(n - i);
    const __m256 with_tail = term(sum[1], load_masked(v + i, mask));
    sum[1] = _mm256_blendv_ps(sum[1], with_tail, _mm256_castsi256_ps(mask));
  }
  return sum_lanes(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3])));
}

static inline float mean(const float* v, uint32_t n) {
  const float sum = sum_terms(v, n, [](__m256 s, __m256 x) { return _mm256_add_ps(s, x); });
  return sum / static_cast<float>(n);
}

static inline float sum_squares(const float* v, uint32_t n, float centre) {
  const __m256 c = _mm256_set1_ps(centre);
  return sum_terms(v, n, [c](__m256 s, __m256 x) {
    const __m256 d = _mm256_sub_ps(x, c);
    return _mm256_fmadd_ps(d, d, s);
  });
}

static inline float divisor(const NormArgs& args, uint32_t n, float squares) {
  if (args.kind == NormKind::l2) return fmaxf(sqrtf(squares), args.eps);
  const float variance = squares / static_cast<float>(n);
  return args.eps_outside_root ? sqrtf(variance) + args.eps : sqrtf(variance + args.eps);
}

/// out = weight * ((v - centre) * factor) + bias.
static inline void scale_group(const float* v, uint32_t n, float centre, float factor, const float* weight,
                               const float* bias, float* out) {
  const __m256 c = _mm256_set1_ps(centre);
  const __m256 f = _mm256_set1_ps(factor);
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 none = _mm256_set1_ps(-0.0f);  // changes no sum
  for (uint32_t i = 0; i < n; i += kLanes) {
    const uint32_t left = n - i;
    const __m256 scaled = _mm256_mul_ps(_mm256_sub_ps(load_first(v + i, left), c), f);
    const __m256 b = bias != nullptr ? load_first(bias + i, left) : none;
    const __m256 w = weight != nullptr ? load_first(weight + i, left) : one;
    store_first(out + i, left, _mm256_add_ps(_mm256_mul_ps(w, scaled), b));
  }
}

void norm_f32(const NormArgs& args, Range rows, void*) {
  assert(args.groups != 0 && args.width % args.groups == 0);
  const uint32_t n = args.width / args.groups;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t group = 0; group < args.groups; ++group) {
      const float* v = args.in[t] + group * n;
      const float centre = args.kind == NormKind::layer ? mean(v, n) : 0.0f;
      const float scale = 1.0f / divisor(args, n, sum_squares(v, n, centre));
      scale_group(v, n, centre, scale, args.weight, args.bias, args.out[t] + group * n);
    }
  }
}

}  // namespace mote::avx2
