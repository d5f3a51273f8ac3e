// SPDX-License-Identifier: Apache-2.0
//
// layer: weight * (v - mean) / sqrt(variance + eps) + bias; rms: weight * v / sqrt(mean(v^2) + eps) + bias;
// l2: weight * v / max(sqrt(sum of v^2), eps) + bias; affine: weight * v + bias, for each group v of a row.
// The variance takes a second pass over v - mean: a single pass cancels where the mean is large.
//
// Sums take kSums registers, as many as the latency of an addition; the tail is masked, one register at a
// time. A row is at most a few tens of KiB, so the passes after the first read it from L1 or L2.
//
// With L lanes a sum of n terms has at most n / (4 L) + 8 roundings, so the mean is within (n / (4 L) + 8)
// 2^-24 mean |v|, the variance of its own mean within (n / (4 L) + 10) 2^-24 relative, one more where
// V::kFused is false; out adds 4 roundings. The reference's sums, one after the other, have up to n
// roundings and make the larger part of a difference.
#pragma once

#include <assert.h>
#include <math.h>

#include "kernels/simd/floats.h"

namespace mote {
namespace {

constexpr uint32_t kSums = 4;

/// The sum of term(v) over n columns.
template <class V, class Term>
inline float sum_terms(const float* v, uint32_t n, Term term) {
  typename V::Float sum[kSums];
  MOTE_UNROLL for (uint32_t k = 0; k < kSums; ++k) sum[k] = V::set(0.0f);
  uint32_t i = 0;
  for (; i + kSums * V::kLanes <= n; i += kSums * V::kLanes) {
    MOTE_UNROLL for (uint32_t k = 0; k < kSums; ++k) sum[k] = term(sum[k], V::load(v + i + k * V::kLanes));
  }
  for (; i + V::kLanes <= n; i += V::kLanes) sum[0] = term(sum[0], V::load(v + i));
  if (i < n) sum[1] = V::first_of(n - i, term(sum[1], V::load_first(v + i, n - i)), sum[1]);
  return V::sum_lanes(V::add(V::add(sum[0], sum[1]), V::add(sum[2], sum[3])));
}

template <class V>
inline float mean(const float* v, uint32_t n) {
  using Float = typename V::Float;
  return sum_terms<V>(v, n, [](Float s, Float x) { return V::add(s, x); }) / static_cast<float>(n);
}

template <class V>
inline float sum_squares(const float* v, uint32_t n, float centre) {
  using Float = typename V::Float;
  const Float c = V::set(centre);
  return sum_terms<V>(v, n, [c](Float s, Float x) {
    const Float d = V::sub(x, c);
    return V::fma(d, d, s);
  });
}

static inline float divisor(const NormArgs& args, uint32_t n, float squares) {
  if (args.kind == NormKind::affine) return 1.0f;
  if (args.kind == NormKind::l2) return fmaxf(sqrtf(squares), args.eps);
  const float variance = squares / static_cast<float>(n);
  return args.eps_outside_root ? sqrtf(variance) + args.eps : sqrtf(variance + args.eps);
}

/// out = weight * ((v - centre) * factor) + bias.
template <class V>
inline void scale_group(const float* v, uint32_t n, float centre, float factor, const float* weight,
                        const float* bias, float* out) {
  using Float = typename V::Float;
  const Float c = V::set(centre), f = V::set(factor), one = V::set(1.0f);
  const Float none = V::set(-0.0f);  // x + -0 is x
  each_vector<V::kLanes>(n, [&](uint32_t i, uint32_t left) MOTE_INLINE {
    const Float scaled = V::mul(V::sub(V::load_first(v + i, left), c), f);
    const Float b = bias != nullptr ? V::load_first(bias + i, left) : none;
    const Float w = weight != nullptr ? V::load_first(weight + i, left) : one;
    V::store_first(out + i, left, V::add(V::mul(w, scaled), b));
  });
}

template <class V>
void norm(const NormArgs& args, Range rows, void*) {
  static_assert(CheckRows<V>::kPasses);
  assert(args.groups != 0 && args.width % args.groups == 0);
  const uint32_t n = args.width / args.groups;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t group = 0; group < args.groups; ++group) {
      const float* v = args.in[t] + group * n;
      const float centre = args.kind == NormKind::layer ? mean<V>(v, n) : 0.0f;
      const float scale = 1.0f / divisor(args, n, sum_squares<V>(v, n, centre));
      scale_group<V>(v, n, centre, scale, args.weight, args.bias, args.out[t] + group * n);
    }
  }
}

}  // namespace
}  // namespace mote
