// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h, in vectors of 512 bits: AVX-512 F, BW, DQ, VL
// and VNNI. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/simd/dot_words.h"
#include "kernels/x86/floats_512.inl.h"
#include "kernels/x86/linear_finish.inl.h"

namespace mote {
namespace {

struct Vnni512 : DotFloats<Floats512>, DotWords<Floats512> {
  static constexpr uint32_t kWeightBias = 128;
  static constexpr uint32_t kRowPanels = kLinearStreams, kPairRows = 4, kSingleRows = 8;
  static constexpr bool kUnpacks = true;
  using DotFloats::set;
  using DotWords::set;

  static Int load(const void* bytes) { return _mm512_load_si512(bytes); }
  static void store(void* bytes, Int v) { _mm512_store_si512(bytes, v); }
  static Int minus_8(Int v) { return _mm512_sub_epi8(v, _mm512_set1_epi8(8)); }
  static Int dot(Int sum, Int u8, Int s8) { return _mm512_dpbusd_epi32(sum, u8, s8); }
  /// By a word in memory, which dpbusd broadcasts to every lane.
  static Int dot_word(Int sum, Int u8, const char* word) {
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sum)
            : "v"(u8), "m"(*reinterpret_cast<const int32_t*>(word)));
    return sum;
  }
  static void pin(Int& v) { MOTE_PIN(v); }

  static Float load_f32(const float* from) { return _mm512_load_ps(from); }
  static void store_f32(float* to, Float v) { _mm512_store_ps(to, v); }
  static Float load_f16(const uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static Float convert(Int v) { return _mm512_cvtepi32_ps(v); }
  static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
};

/// For a single row where the CPU runs 512 bits in two passes (Zen 4): int8
/// weights are read from memory faster by loads of 256 bits. 4-bit weights are
/// not, because they take fewer loads and more operations.
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
