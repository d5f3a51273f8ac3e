// SPDX-License-Identifier: Apache-2.0
//
// What linear_float.inl.h and attention.inl.h are made of, in vectors of 512 bits: AVX-512 F and BW.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/math_avx2.inl.h"
#include "kernels/x86/tile_shapes_512.h"

namespace mote {
namespace {

struct Floats512 : TileShapes512 {
  using Float = __m512;
  static Float set(float value) { return _mm512_set1_ps(value); }
  static Float load(const float* from) { return _mm512_loadu_ps(from); }
  static Float load(const uint16_t* half) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(half)));
  }
  static Float load_first(const float* from, uint32_t count) {
    return _mm512_maskz_loadu_ps(first(count), from);
  }
  static Float load_first(const uint16_t* half, uint32_t count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(count), half));
  }
  static void store(float* to, Float x) { _mm512_storeu_ps(to, x); }
  static void store_first(float* to, uint32_t count, Float x) { _mm512_mask_storeu_ps(to, first(count), x); }
  static Float mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }

 private:
  static __mmask16 first(uint32_t count) {
    return static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1u << count) - 1);
  }
};

}  // namespace
}  // namespace mote
