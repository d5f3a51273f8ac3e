// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h by maddubs.
//
// vpmaddubsw adds two products of bytes in int16. So the two elements of a pair share the levels of a byte
// (joint): a key of at most 255 times a pair of query elements whose magnitudes add up to 128, or a pair of
// weights that add up to 256 times values of at most 128 in magnitude, is at most 32768 in magnitude, and
// 32768 only below zero. The product of a vector takes three operations; bytes widened to int16 would take
// four.
#pragma once

#include "kernels/x86/int8_lanes_256.inl.h"

namespace mote {
namespace {

struct PairedWords256 : Words256 {
  static __m256i dot(__m256i sum, __m256i u8, __m256i s8) {
    const __m256i pairs = _mm256_maddubs_epi16(u8, s8);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  /// The sum of a pair, in both of its lanes.
  static __m256 joint(__m256 magnitudes) {
    return _mm256_add_ps(magnitudes, _mm256_permute_ps(magnitudes, 0b10110001));
  }
};

}  // namespace
}  // namespace mote
