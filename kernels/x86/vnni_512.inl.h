// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h, in vectors of 512 bits: AVX-512 F, BW, DQ, VL and VNNI. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/floats_512.inl.h"
#include "kernels/x86/linear_finish.inl.h"

namespace mote {
namespace {

struct Vnni512 : DotFloats<Floats512> {
  using Int = __m512i;  // 64 bytes or 16 int32
  static constexpr uint32_t kVectors = 1;
  static constexpr uint32_t kWeightBias = 128;
  static constexpr uint32_t kRowPanels = kLinearStreams;
  static constexpr uint32_t kPairRows = 4;
  static constexpr uint32_t kSingleRows = 8;
  static constexpr bool kUnpacks = true;
  static constexpr bool kUnrolls = true;
  static constexpr bool kUnrollsQuads = true;

  static Int load(const void* bytes) { return _mm512_load_si512(bytes); }
  static void store(void* bytes, Int v) { _mm512_store_si512(bytes, v); }
  static Int zero() { return _mm512_setzero_si512(); }
  using DotFloats::set;
  static Int set(int32_t value) { return _mm512_set1_epi32(value); }
  static Int broadcast_word(const char* bytes) {
    int32_t word;
    memcpy(&word, bytes, 4);
    return _mm512_set1_epi32(word);
  }

  static Int low_nibbles(Int v) { return _mm512_and_si512(v, _mm512_set1_epi8(0x0F)); }
  static Int high_nibbles(Int v) { return low_nibbles(_mm512_srli_epi16(v, 4)); }
  static Int high_nibbles_in_place(Int v) { return _mm512_andnot_si512(_mm512_set1_epi8(0x0F), v); }
  static Int minus_8(Int v) { return _mm512_sub_epi8(v, _mm512_set1_epi8(8)); }
  static Int add_128(Int v) { return _mm512_xor_si512(v, _mm512_set1_epi8(-128)); }
  static Int dot(Int sum, Int u8, Int s8) { return _mm512_dpbusd_epi32(sum, u8, s8); }
  /// By a word in memory, which dpbusd broadcasts to every lane.
  static Int dot_word(Int sum, Int u8, const char* word) {
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sum)
            : "v"(u8), "m"(*reinterpret_cast<const int32_t*>(word)));
    return sum;
  }
  /// v << by, or v >> -by, & mask.
  template <int by, uint32_t mask>
  static Int shifted(Int v) {
    const Int to = by < 0 ? _mm512_srli_epi32(v, by < 0 ? -by : 0) : _mm512_slli_epi32(v, by < 0 ? 0 : by);
    return _mm512_and_si512(to, _mm512_set1_epi32(static_cast<int32_t>(mask)));
  }
  template <uint32_t i>
  static Int signed_byte(Int v) {
    return _mm512_srai_epi32(_mm512_slli_epi32(v, 24 - 8 * i), 24);
  }
  static Int either(Int a, Int b) { return _mm512_or_si512(a, b); }
  static Int plus(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static Int times(Int a, Int b) { return _mm512_mullo_epi32(a, b); }
  static void pin(Int& v) { MOTE_PIN(v); }
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return _mm512_sub_epi32(zero(), _mm512_slli_epi32(v, __builtin_ctz(factor)));
  }
  static Int add_sixteenth(Int sum, Int v) { return _mm512_add_epi32(sum, _mm512_srai_epi32(v, 4)); }

  static Float load_f32(const float* from) { return _mm512_load_ps(from); }
  static void store_f32(float* to, Float v) { _mm512_store_ps(to, v); }
  static Float load_f16(const uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static Float convert(Int v) { return _mm512_cvtepi32_ps(v); }
  static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
};

/// For a single row where the CPU runs 512 bits in two passes (Zen 4): int8 weights are read from memory
/// faster by loads of 256 bits. 4-bit weights are not, because they take fewer loads and more operations.
struct Vnni512InHalves : Vnni512 {
  static constexpr uint32_t kPairRows = 1, kSingleRows = 1;
  static constexpr bool kUnpacks = false;

  static Int load(const void* bytes) {
    const auto* halves = static_cast<const __m256i*>(bytes);
    __m256i low = _mm256_load_si256(halves);
    MOTE_PIN(low);  // or GCC makes one load of them
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), _mm256_load_si256(halves + 1), 1);
  }
};

}  // namespace
}  // namespace mote
