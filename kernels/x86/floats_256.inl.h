// SPDX-License-Identifier: Apache-2.0
//
// What linear_float.inl.h and attention.inl.h are made of, in vectors of 256 bits: FMA and F16C. 16
// registers, an fma of latency 4 at 2 a cycle: 8 sums or more must be in flight. Everything has internal
// linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/math_avx2.inl.h"

namespace mote {
namespace {

struct Floats256 {
  using Float = __m256;
  static constexpr uint32_t kLanes = 8;
  static constexpr uint32_t kVectors = 2;  // of a panel's outputs, and of a block's positions

  // Linear, rows by panels: tiles are 1 x 4, up to 3 x 2, up to 6 x 1.
  static constexpr uint32_t kRows = 6, kPanels = 1;
  static constexpr uint32_t kFewRows = 3, kFewPanels = 2;

  // Attention: blocks of 16 positions to score, and vectors of columns to sum, with 1, 2, 3 and 4 queries.
  static constexpr uint32_t kBlocks[] = {4, 2, 2, 1};
  static constexpr uint32_t kColumns[] = {8, 4, 4, 2};

  static Float set(float value) { return _mm256_set1_ps(value); }
  static Float load(const float* from) { return _mm256_loadu_ps(from); }
  static Float load(const uint16_t* half) { return avx2::load8(half); }
  template <class T>
  static Float load_first(const T* from, uint32_t count) {
    return avx2::load_first(from, count);
  }
  static void store(float* to, Float x) { _mm256_storeu_ps(to, x); }
  static void store_first(float* to, uint32_t count, Float x) { avx2::store_first(to, count, x); }
  static Float mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace mote
