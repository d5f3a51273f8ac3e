// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]] for the quantized P16K4 types, the reference's bits. A row's columns are 4 bytes in
// every 64 of its panel, so a group is fetched by one gather (int8: 8 words, 4 bits: 4), about one cache line
// a word: the lookup is bound by these misses, and 8 columns at a time are enough. Tails: a group is computed
// whole and stored as far as the width goes.
//
// Format: Supercell, and decode(cell, g, row, columns) gives the 32 columns of a group.
#pragma once

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

static inline __m256 broadcast_half(uint16_t half) { return _mm256_set1_ps(_cvtsh_ss(half)); }

/// Word j of the row in each of `words`, panel rows being 4 bytes of 64.
static inline __m256i gather8_words(const void* words) {
  const __m256i lines = _mm256_setr_epi32(0, 64, 128, 192, 256, 320, 384, 448);
  return _mm256_i32gather_epi32(static_cast<const int*>(words), lines, 1);
}

/// The 32 nibbles of the row in order of k, a byte each: word j holds k = 8j + i low and 8j + 4 + i high.
static inline __m256i gather_nibbles(const void* words) {
  const __m128i packed =
      _mm_i32gather_epi32(static_cast<const int*>(words), _mm_setr_epi32(0, 64, 128, 192), 1);
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i low = _mm_and_si128(packed, mask);
  const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), mask);
  return _mm256_set_m128i(_mm_unpackhi_epi32(low, high), _mm_unpacklo_epi32(low, high));
}

/// Bytes 8v..8v + 7 as floats.
static inline __m256 floats_of(__m256i bytes, uint32_t v) {
  alignas(32) int8_t all[kGroupColumns];
  _mm256_store_si256(reinterpret_cast<__m256i*>(all), bytes);
  return _mm256_cvtepi32_ps(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(all + 8 * v))));
}

template <class Format>
static inline void embed_packed(const EmbedArgs& args, Range rows) {
  using Supercell = typename Format::Supercell;
  const size_t supercells = align_up(args.width, kSupercellColumns) / kSupercellColumns;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t id = static_cast<uint32_t>(args.ids[t]);
    const Supercell* panel = static_cast<const Supercell*>(args.table) + id / kPanelRows * supercells;
    float* out = args.out[t];
    for (uint32_t k = 0; k < args.width; k += kGroupColumns) {
      __m256 columns[kGroupVectors];
      Format::decode(panel[k / kSupercellColumns], k / kGroupColumns % 2, id % kPanelRows, columns);
      for (uint32_t v = 0; v < kGroupVectors && k + v * kLanes < args.width; ++v) {
        store_first(out + k + v * kLanes, args.width - k - v * kLanes, columns[v]);
      }
    }
  }
}

}  // namespace mote::avx2
