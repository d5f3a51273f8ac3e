// SPDX-License-Identifier: Apache-2.0
//
// What attention.inl.h is made of over a cache of i8: dpbusd, which adds four products of bytes, one of them
// unsigned, to each int32. Keys are unsigned, which makes dot products too large by 128 times the sum of a
// query's bytes: they start from less. So are weights. Everything has internal linkage: see "Kernels" in
// docs/design.md.
#pragma once

#include <float.h>

#include "kernels/ops.h"
#include "kernels/x86/rough_exp_512.inl.h"

namespace mote {
namespace {

struct Int8Floats512 : RoughExp512 {
  using Dot = Int;
  using Query = KvQuad;
  using Total = Float;
  static constexpr uint32_t kPacked = 4;
  static constexpr uint32_t kScales = 1;
  static constexpr uint32_t kQueryTail = 2;  // its scale, and where its dot products start

  using Floats512::fma;
  using Floats512::load;
  using Floats512::load_first;
  using Floats512::set;

  static Int set(KvQuad quad) {
    int32_t word;
    memcpy(&word, &quad, sizeof word);
    return _mm512_set1_epi32(word);
  }
  static Int load(const KvQuad* from) { return _mm512_loadu_si512(from); }
  static Int load_first(const KvQuad* from, uint32_t count) {
    return _mm512_maskz_loadu_epi32(first_lanes(count), from);
  }
  /// dot + signed * unsigned.
  static Int fma(Int query, Int key, Int dot) { return _mm512_dpbusd_epi32(dot, key, query); }
  static Int zero_dot() { return _mm512_setzero_si512(); }

  static Int dot_start(const KvQuad* query, uint32_t quads) { return set(query[quads + 1]); }
  static Float score(Int dot, float, const KvQuad* query, uint32_t quads, const KvQuad* scales) {
    const Float scale = _mm512_castsi512_ps(set(query[quads]));
    return mul(to_float(dot), mul(scale, _mm512_castsi512_ps(load(scales))));
  }

  /// A query as the bytes of q8c, the scale times `factor`, and -128 times the sum of the bytes.
  static void pack(const float* from, uint32_t count, float factor, KvQuad* to) {
    Int largest_of = _mm512_setzero_si512();
    for (uint32_t i = 0; i < count; i += kLanes) {
      largest_of = max_magnitude(largest_of, abs(load_first(from + i, count - i)));
    }
    const float largest = max_magnitude(largest_of);
    const bool finite = largest <= FLT_MAX, zero = !finite || largest < 0x1p-100f;
    const Float inverse = set(zero ? 0.0f : 127.0f / largest);
    Int sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < count; i += kLanes) {
      const Int q = finite ? to_int(mul(load_first(from + i, count - i), inverse)) : _mm512_setzero_si512();
      store_bytes(to + i / kPacked, count - i, _mm512_cvtepi32_epi8(q));
      sum = _mm512_add_epi32(sum, q);
    }
    const float scale = !finite ? __builtin_nanf("") : zero ? 0.0f : largest * (factor / 127.0f);
    const int32_t start = -128 * _mm512_reduce_add_epi32(sum);
    memcpy(to + count / kPacked, &scale, sizeof scale);
    memcpy(to + count / kPacked + 1, &start, sizeof start);
  }

  /// Numbers that are not negative order as integers do, and NaN is the largest.
  static Int max_magnitude(Int largest, Float x) { return _mm512_max_epi32(largest, _mm512_castps_si512(x)); }
  static float max_magnitude(Int largest) {
    const int32_t bits = _mm512_reduce_max_epi32(largest);
    float most;
    memcpy(&most, &bits, sizeof most);
    return most;
  }
  /// Of 16 positions of a tile's values.
  static Float load_scales(const KvQuad* values, uint32_t head_dim, uint32_t at) {
    return _mm512_castsi512_ps(load(values + static_cast<size_t>(at) * (head_dim / kPacked + kScales)));
  }
  /// Where the values of the positions 4 `quad` to 4 `quad` + 3 of a tile are.
  static const KvQuad* values_at(const KvQuad* values, uint32_t head_dim, uint32_t quad) {
    return values + kLanes * (quad / 4 + 1) + static_cast<size_t>(quad) * head_dim;
  }

  /// 16 times weight * step of 0 to 255, rounded to bytes: 2^23 more has them as its last bits. NaN as
  /// quantize has it is 0.
  static void store_weights(uint8_t* to, Float weight, Float step) {
    const Int bits = _mm512_castps_si512(fma(weight, step, set(0x1p23f)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(bits));
  }
  static Int weight(const float* weights, uint32_t quad) {
    int32_t word;
    memcpy(&word, weights + quad, sizeof word);
    return _mm512_set1_epi32(word);
  }
  static float sum(Total sums) { return avx2::sum_lanes(Floats512::add_by_8(_mm256_setzero_ps(), sums)); }

 private:
  /// Stores under a mask of bytes take tens of cycles.
  static void store_bytes(KvQuad* to, uint32_t count, __m128i bytes) {
    if (count >= kLanes) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    } else {
      _mm_mask_storeu_epi32(to, static_cast<__mmask8>((1u << count / kPacked) - 1), bytes);
    }
  }
};

}  // namespace
}  // namespace mote
