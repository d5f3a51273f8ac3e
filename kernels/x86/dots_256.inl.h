// SPDX-License-Identifier: Apache-2.0
//
// What dot products of simd/dots.h have beside the product itself, in vectors of 256 bits. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/linear_finish.inl.h"

namespace mote {
namespace {

struct Dots256 : DotFloats<Floats256> {
  using Int = __m256i;  // 32 bytes or 8 int32
  static constexpr uint32_t kVectors = 2;
  static constexpr uint32_t kWeightBias = 128;
  static constexpr uint32_t kRowPanels = kLinearStreams;
  static constexpr uint32_t kPairRows = 2;
  static constexpr uint32_t kSingleRows = 4;
  static constexpr bool kUnpacks = false;
  static constexpr bool kUnrolls = true;
  static constexpr bool kUnrollsQuads = true;

  static Int load(const void* bytes) { return _mm256_load_si256(static_cast<const __m256i*>(bytes)); }
  static void store(void* bytes, Int v) { _mm256_store_si256(static_cast<__m256i*>(bytes), v); }
  static Int zero() { return _mm256_setzero_si256(); }
  using DotFloats::set;
  static Int set(int32_t value) { return _mm256_set1_epi32(value); }
  static Int broadcast_word(const char* bytes) {
    int32_t word;
    memcpy(&word, bytes, 4);
    return _mm256_set1_epi32(word);
  }

  static Int low_nibbles(Int v) { return _mm256_and_si256(v, _mm256_set1_epi8(0x0F)); }
  static Int high_nibbles(Int v) { return low_nibbles(_mm256_srli_epi16(v, 4)); }
  static Int high_nibbles_in_place(Int v) { return _mm256_andnot_si256(_mm256_set1_epi8(0x0F), v); }
  static Int add_128(Int v) { return _mm256_xor_si256(v, _mm256_set1_epi8(-128)); }
  /// v << by, or v >> -by, & mask.
  template <int by, uint32_t mask>
  static Int shifted(Int v) {
    const Int to = by < 0 ? _mm256_srli_epi32(v, by < 0 ? -by : 0) : _mm256_slli_epi32(v, by < 0 ? 0 : by);
    return _mm256_and_si256(to, _mm256_set1_epi32(static_cast<int32_t>(mask)));
  }
  template <uint32_t i>
  static Int signed_byte(Int v) {
    return _mm256_srai_epi32(_mm256_slli_epi32(v, 24 - 8 * i), 24);
  }
  static Int either(Int a, Int b) { return _mm256_or_si256(a, b); }
  static Int plus(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static Int times(Int a, Int b) { return _mm256_mullo_epi32(a, b); }
  static void pin(Int& v) { MOTE_PIN(v); }
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return _mm256_sub_epi32(zero(), _mm256_slli_epi32(v, __builtin_ctz(factor)));
  }
  static Int add_sixteenth(Int sum, Int v) { return _mm256_add_epi32(sum, _mm256_srai_epi32(v, 4)); }

  static Float load_f32(const float* from) { return _mm256_load_ps(from); }
  static void store_f32(float* to, Float v) { _mm256_store_ps(to, v); }
  static Float load_f16(const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Float convert(Int v) { return _mm256_cvtepi32_ps(v); }
  static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
};

/// Where weights are unsigned and below 64, so that sums of two products fit int16.
struct Maddubs256 : Dots256 {
  static Int dot(Int sum, Int u8, Int s8) {
    const Int pairs = _mm256_maddubs_epi16(u8, s8);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace mote
