// SPDX-License-Identifier: Apache-2.0
//
// The members that dot products of simd/dots.h have beside the product itself, in vectors of 256 bits.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/simd/dot_words.h"
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/linear_finish.inl.h"

namespace mote {
namespace {

struct Dots256 : DotFloats<Floats256>, DotWords<Floats256> {
  static constexpr uint32_t kWeightBias = 128;
  static constexpr uint32_t kRowPanels = kLinearStreams, kPairRows = 2, kSingleRows = 4;
  using DotFloats::set;
  using DotWords::set;

  static Int load(const void* bytes) { return _mm256_load_si256(static_cast<const __m256i*>(bytes)); }
  static void store(void* bytes, Int v) { _mm256_store_si256(static_cast<__m256i*>(bytes), v); }
  static void pin(Int& v) { MOTE_PIN(v); }

  static Float load_f32(const float* from) { return _mm256_load_ps(from); }
  static void store_f32(float* to, Float v) { _mm256_store_ps(to, v); }
  static Float load_f16(const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Float convert(Int v) { return _mm256_cvtepi32_ps(v); }
  static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
};

/// Where weights are unsigned and below 64, so that sums of two products fit
/// int16.
struct Maddubs256 : Dots256 {
  static Int dot(Int sum, Int u8, Int s8) {
    const Int pairs = _mm256_maddubs_epi16(u8, s8);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace mote
