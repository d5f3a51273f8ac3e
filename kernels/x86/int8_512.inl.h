// SPDX-License-Identifier: Apache-2.0
//
// The vectors of attention over a cache of i8 in 512 bits; simd/int8_floats.inl.h describes the members.
// dpbusd adds four products of bytes to each int32. The exponential, the conversions to bytes and the masks
// use AVX-512. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/simd/int8_queries.inl.h"
#include "kernels/x86/rough_exp_512.inl.h"

namespace mote {
namespace {

struct Int8Floats512 : RoughExp512 {
  using Dot = Int;
  using Query = KvQuad;
  using Total = Float;
  static constexpr uint32_t kPacked = 4;
  static constexpr uint32_t kScales = 1;
  static constexpr float kMostWeight = 255.0f;
  static constexpr uint32_t kQueryTail = 2;

  using Floats512::add;
  using Floats512::fma;
  using Floats512::load;
  using Floats512::load_first;
  using Floats512::set;

  static Int set(KvQuad quad) { return _mm512_set1_epi32(word_of<int32_t>(&quad)); }
  static Int load(const KvQuad* from) { return _mm512_loadu_si512(from); }
  static Int load_values(const KvQuad* from) { return load(from); }
  static Int load_first_values(const KvQuad* from, uint32_t count) {
    return _mm512_maskz_loadu_epi32(first_lanes(count), from);
  }
  static Int fma(Int query, Int key, Int dot) { return _mm512_dpbusd_epi32(dot, key, query); }
  static Float joint(Float magnitudes) { return magnitudes; }
  static Int zero_dot() { return _mm512_setzero_si512(); }
  static Int add(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static int32_t sum(Int x) { return _mm512_reduce_add_epi32(x); }

  static Int dot_start(const KvQuad* query, uint32_t quads) { return set(query[quads + 1]); }
  static Float score(Int dot, float, const KvQuad* query, uint32_t quads, const KvQuad* scales) {
    return mul(to_float(dot), mul(set(word_of<float>(query + quads)), _mm512_castsi512_ps(load(scales))));
  }

  static void pack(const float* from, uint32_t count, float factor, KvQuad* to) {
    pack_query<Int8Floats512>(from, count, factor, to);
  }
  /// Masks are of 32 bits, because stores under a mask of bytes are slow.
  static void store_quads(KvQuad* to, Int x, uint32_t count) {
    const __m128i bytes = _mm512_cvtepi32_epi8(x);
    if (count >= kLanes) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    } else {
      _mm_mask_storeu_epi32(to, static_cast<__mmask8>((1u << count / kPacked) - 1), bytes);
    }
  }

  static Int max_magnitude(Int largest, Float x) { return _mm512_max_epi32(largest, _mm512_castps_si512(x)); }
  static float max_magnitude(Int largest) {
    const int32_t bits = _mm512_reduce_max_epi32(largest);
    return word_of<float>(&bits);
  }
  /// Scales of the kLanes positions of a tile's values from `at` on.
  static Float load_scales(const KvQuad* values, uint32_t value_dim, uint32_t at) {
    return _mm512_castsi512_ps(load(values + static_cast<size_t>(at) * (value_dim / kPacked + kScales)));
  }

  /// Stores weight * step, from 0 to 255 and rounded, as bytes of the weights' row from position `at` on.
  /// Adding 2^23 rounds and leaves the byte in the last bits. NaN becomes 0.
  static void store_weights(float* weights, uint32_t at, Float weight, Float step) {
    store_quads(reinterpret_cast<KvQuad*>(weights) + at / kPacked,
                _mm512_castps_si512(fma(weight, step, set(0x1p23f))), kLanes);
  }
  static Int weight(const float* weights, uint32_t quad) {
    return _mm512_set1_epi32(word_of<int32_t>(weights + quad));
  }
  static float sum(Total sums) { return avx2::sum_lanes(Floats512::add_weights(_mm256_setzero_ps(), sums)); }
};

}  // namespace
}  // namespace mote
