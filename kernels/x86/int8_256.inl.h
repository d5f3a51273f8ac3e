// SPDX-License-Identifier: Apache-2.0
//
// As int8_512.inl.h in vectors of 256 bits. How bytes are multiplied is the Quads': by dpbusd where the
// processor has it (int8_vnni_256.inl.h), else as int16 (attention_f32_i8__avx2.cpp); both are exact.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/int8_queries.inl.h"
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote {
namespace {

/// Of Quads: a Vector holds four bytes for each of 8 int32, a Query those of one, which load repeats;
/// blocks is as in Floats256.
template <class Quads>
struct Int8Floats256 : Floats256 {
  using Dot = Int;
  using Query = typename Quads::Query;
  using Total = Float;
  static constexpr uint32_t kPacked = 4, kScales = 1, kQueryTail = 2;
  static constexpr uint32_t blocks(uint32_t queries) { return Quads::blocks(queries); }

  using Floats256::add;
  using Floats256::fma;
  using Floats256::load;
  using Floats256::load_first;
  using Floats256::set;
  using Floats256::sum;

  static auto set(const Query& query) { return Quads::load(&query); }
  /// Of keys.
  static auto load(const KvQuad* from) { return Quads::of_unsigned(load_words(from)); }
  static auto load_values(const KvQuad* from) { return Quads::of_signed(load_words(from)); }
  static auto load_first_values(const KvQuad* from, uint32_t count) {
    return Quads::of_signed(
        _mm256_maskload_epi32(reinterpret_cast<const int*>(from), avx2::tail_mask(count)));
  }
  /// dot + signed * unsigned.
  static Int fma(const typename Quads::Vector& query, const typename Quads::Vector& key, Int dot) {
    return Quads::fma(query, key, dot);
  }
  static Int zero_dot() { return _mm256_setzero_si256(); }
  static Int add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static int32_t sum(Int x) { return avx2::sum_lanes(x); }

  static Int dot_start(const Query* query, uint32_t quads) {
    return _mm256_set1_epi32(word_of<int32_t>(query + quads + 1));
  }
  static Float score(Int dot, float, const Query* query, uint32_t quads, const KvQuad* scales) {
    return mul(to_float(dot), mul(set(word_of<float>(query + quads)), load_floats(scales)));
  }

  static void pack(const float* from, uint32_t count, float factor, Query* to) {
    pack_query<Int8Floats256>(from, count, factor, to);
  }
  static void store_quads(Query* to, Int x, uint32_t count) { Quads::store(to, x, count); }

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
  static Float load_scales(const KvQuad* values, uint32_t head_dim, uint32_t at) {
    return load_floats(values + static_cast<size_t>(at / 16) * 16 * (head_dim / kPacked + kScales) + at % 16);
  }
  static void store_weights(float* weights, uint32_t at, Float weight, Float step) {
    Quads::store(reinterpret_cast<Query*>(weights) + at / kPacked,
                 _mm256_castps_si256(fma(weight, step, set(0x1p23f))), kLanes);
  }
  static auto weight(const float* weights, uint32_t quad) {
    return Quads::load(reinterpret_cast<const char*>(weights) + quad * sizeof(Query));
  }

 private:
  static constexpr float kPerLn2 = 0x1.715476p+0f;
  static Int load_words(const KvQuad* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Float load_floats(const KvQuad* from) { return _mm256_castsi256_ps(load_words(from)); }
};

}  // namespace
}  // namespace mote
