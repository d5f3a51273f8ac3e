// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h by maddubs.
//
// Three operations for 32 multiply-adds, which floats take four fma for. vpmaddubsw adds two products of
// bytes in 16 bits: a key of up to 255 times queries that make up 128 together, or a value of up to 128 times
// weights that make up 256, is 32768 at most, and reached below zero only. So it is pairs of queries'
// elements and of weights that share the levels of a byte (joint). Bytes as int16, which take four
// operations, keep twice as many levels where both of a pair are as large as can be.
#pragma once

#include "kernels/x86/words_256.inl.h"

namespace mote {
namespace {

struct PairedWords256 : Words256 {
  static __m256i dot(__m256i sum, __m256i u8, __m256i s8) {
    const __m256i pairs = _mm256_maddubs_epi16(u8, s8);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  /// In both lanes of a pair.
  static __m256 joint(__m256 magnitudes) {
    return _mm256_add_ps(magnitudes, _mm256_permute_ps(magnitudes, 0b10110001));
  }
};

}  // namespace
}  // namespace mote
