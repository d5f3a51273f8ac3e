// SPDX-License-Identifier: Apache-2.0
//
// As int8_512.inl.h in vectors of 256 bits. How bytes are multiplied is the Bytes': by dpbusd where the
// processor has it (int8_vnni_256.inl.h), else by maddubs (attention_f32_i8__avx2.cpp). Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/simd/int8_queries.inl.h"
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote {
namespace {

/// Of Bytes: dot(sum, u8, s8) adds the four products of each lane, exactly as long as bytes do not exceed
/// what joint() lets them: see int8_512.inl.h.
template <class Bytes>
struct Int8Floats256 : Floats256 {
  using Dot = Int;
  using Query = KvQuad;
  using Total = Float;
  static constexpr uint32_t kPacked = 4, kScales = 1, kQueryTail = 2;

  using Floats256::add;
  using Floats256::fma;
  using Floats256::load;
  using Floats256::load_first;
  using Floats256::set;
  using Floats256::sum;

  static Int set(KvQuad quad) { return _mm256_set1_epi32(word_of<int32_t>(&quad)); }
  static Int load(const KvQuad* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static Int load_values(const KvQuad* from) { return load(from); }
  static Int load_first_values(const KvQuad* from, uint32_t count) {
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(from), avx2::tail_mask(count));
  }
  /// dot + signed * unsigned.
  static Int fma(Int query, Int key, Int dot) { return Bytes::dot(dot, key, query); }
  static Float joint(Float magnitudes) { return Bytes::joint(magnitudes); }
  static Int zero_dot() { return _mm256_setzero_si256(); }
  static Int add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static int32_t sum(Int x) { return avx2::sum_lanes(x); }

  static Int dot_start(const KvQuad* query, uint32_t quads) { return set(query[quads + 1]); }
  static Float score(Int dot, float, const KvQuad* query, uint32_t quads, const KvQuad* scales) {
    return mul(to_float(dot), mul(set(word_of<float>(query + quads)), load_floats(scales)));
  }

  static void pack(const float* from, uint32_t count, float factor, KvQuad* to) {
    pack_query<Int8Floats256>(from, count, factor, to);
  }
  /// The last bytes of the first `count` lanes, 4 or all.
  static void store_quads(KvQuad* to, Int x, uint32_t count) {
    const __m256i last = _mm256_setr_epi8(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0,
                                          4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    const __m256i quads = _mm256_shuffle_epi8(x, last);
    const __m128i two = _mm_unpacklo_epi32(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
    if (count >= kLanes) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), two);
    } else {
      const int32_t one = _mm_cvtsi128_si32(two);
      memcpy(to, &one, sizeof one);
    }
  }

  /// As RoughExp512's, to 1.02e-4: f is the difference of t to the nearest integer, from -1/2 to 1/2. No
  /// weight is less than 2^-126: that is 0 beside one of 1, and as a byte.
  static Float rough_exp(Float x, Float shift) {
    const Float t = max(set(-126.0f), fma(x, set(kPerLn2), shift));
    const Int n = to_int(t);
    const Float f = sub(t, to_float(n));
    Float p = set(0x1.c2a218p-5f);
    p = fma(p, f, set(0x1.f00c4ep-3f));
    p = fma(p, f, set(0x1.62f5fap-1f));
    p = fma(p, f, set(1.0f));
    return add_to_exponent(p, n);
  }
  static Float shift_of(float largest) { return set(-kPerLn2 * largest); }

  static Int max_magnitude(Int largest, Float x) { return _mm256_max_epi32(largest, _mm256_castps_si256(x)); }
  static float max_magnitude(Int largest) {
    const int32_t bits = avx2::max_lanes(largest);
    return word_of<float>(&bits);
  }
  static Float load_scales(const KvQuad* values, uint32_t value_dim, uint32_t at) {
    return load_floats(values + static_cast<size_t>(at / 16) * 16 * (value_dim / kPacked + kScales) +
                       at % 16);
  }
  static void store_weights(float* weights, uint32_t at, Float weight, Float step) {
    store_quads(reinterpret_cast<KvQuad*>(weights) + at / kPacked,
                _mm256_castps_si256(fma(weight, step, set(0x1p23f))), kLanes);
  }
  static Int weight(const float* weights, uint32_t quad) {
    return _mm256_set1_epi32(word_of<int32_t>(weights + quad));
  }

 private:
  static constexpr float kPerLn2 = 0x1.715476p+0f;
  static Float load_floats(const KvQuad* from) { return _mm256_castsi256_ps(load(from)); }
};

}  // namespace
}  // namespace mote
