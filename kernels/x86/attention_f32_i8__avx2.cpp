// SPDX-License-Identifier: Apache-2.0
//
// vpmaddubsw would saturate: of each quad the even bytes and the odd ones are multiplied as int16 by
// vpmaddwd, queries and weights being stored as such. That is two products and two sums for 32 multiply-adds,
// which floats take four fma for; the keys' or values' bytes are parted once for all queries. Sums have
// latency 1, so few must be in flight, but each operand takes two registers: tiles are smaller than those of
// floats.
#include "kernels/x86/attention.inl.h"
#include "kernels/x86/int8_256.inl.h"

namespace mote::avx2 {
namespace {

struct Int16Quads256 {
  struct Vector {
    __m256i even, odd;
  };
  struct Query {
    int16_t even[2], odd[2];
  };
  static constexpr uint32_t blocks(uint32_t queries) { return queries == 1 ? 4 : queries == 2 ? 2 : 1; }

  static Vector load(const void* query) {
    const auto* words = static_cast<const char*>(query);
    return {_mm256_set1_epi32(word_of<int32_t>(words)), _mm256_set1_epi32(word_of<int32_t>(words + 4))};
  }
  static Vector of_unsigned(__m256i x) {
    return {_mm256_and_si256(x, _mm256_set1_epi16(0xFF)), _mm256_srli_epi16(x, 8)};
  }
  static Vector of_signed(__m256i x) {
    return {_mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8), _mm256_srai_epi16(x, 8)};
  }
  static __m256i fma(const Vector& query, const Vector& key, __m256i dot) {
    const __m256i even = _mm256_madd_epi16(query.even, key.even);
    const __m256i odd = _mm256_madd_epi16(query.odd, key.odd);
    return _mm256_add_epi32(_mm256_add_epi32(dot, even), odd);
  }

  /// The last halves of the first `count` int32, 4 or at least 8.
  static void store(Query* to, __m256i x, uint32_t count) {
    const __m256i last = _mm256_setr_epi8(0, 1, 8, 9, 4, 5, 12, 13, 0, 1, 8, 9, 4, 5, 12, 13, 0, 1, 8, 9, 4,
                                          5, 12, 13, 0, 1, 8, 9, 4, 5, 12, 13);
    const __m256i quads = _mm256_shuffle_epi8(x, last);
    if (count >= 8) {
      const __m128i two =
          _mm_unpacklo_epi64(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), two);
    } else {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(quads));
    }
  }
};

}  // namespace

void attention_f32_i8(const AttentionArgs& args, Range units, void* scratch) {
  avx2::attention<Int8Floats256<Int16Quads256>, KvQuad>(args, units, scratch);
}

}  // namespace mote::avx2
