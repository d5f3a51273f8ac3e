// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t] as i8 in quads (ops.h), bitwise equal to the reference. A head is read
// twice, for its largest magnitude and for rounding. Eight neighbouring tokens fill half a block of keys,
// which is transposed quad by quad, and two rows of quads of values. Other tokens are stored one by one
// (simd/kv_store.inl.h).
#include "kernels/simd/kv_store.inl.h"
#include "kernels/x86/rows_256.inl.h"

namespace mote::avx2 {
namespace {

/// One head of neighbouring tokens, the first of which is `row`.
struct Heads {
  ConstRows x;
  uint32_t row, column, width;
  const float* operator[](uint32_t i) const { return x[row + i] + column; }
};

/// The factors that quantize eight heads.
struct EightScales {
  float by[kLanes];
};
EightScales store_scales_of_8(const Heads& heads, KvQuad* to) {
  __m256i largest[kLanes];
  MOTE_UNROLL for (uint32_t i = 0; i < kLanes; ++i) largest[i] =
      largest_of_row<Rows256>(heads[i], nullptr, heads.width);
  EightScales eight;
  float scales[kLanes];
  scales_of<Rows256>(Rows256::max_of_each(largest), scales, eight.by);
  memcpy(to, scales, sizeof scales);
  return eight;
}

/// Columns e to e + 31 of head i as bytes, or 0 from its width on, in the order of round_to_mixed_bytes.
__m256i bytes_of(const Heads& heads, uint32_t i, uint32_t e, const EightScales& scales) {
  __m256 group[kGroupVectors];
  if (e + kGroupColumns <= heads.width) {
    load_group<Rows256>(heads[i] + e, nullptr, group);
  } else {
    load_last_group<Rows256>(heads[i] + e, nullptr, heads.width - e, group);
  }
  const __m256 by = _mm256_broadcast_ss(&scales.by[i]);
  return Rows256::unless_zero(by, round_to_mixed_bytes(group, by));
}

void store_keys_of_8(const Heads& k, KvQuad* to) {
  const EightScales scales = store_scales_of_8(k, to);
  for (uint32_t e = 0; e < k.width; e += kGroupColumns) {
    __m256 quads[kLanes];
    MOTE_UNROLL for (uint32_t i = 0; i < kLanes; ++i) {
      quads[i] = _mm256_castsi256_ps(_mm256_xor_si256(bytes_of(k, i, e, scales), _mm256_set1_epi8(-128)));
    }
    transpose8(quads);
    MOTE_UNROLL for (uint32_t i = 0; i < kLanes; ++i) {
      const uint32_t quad = e / 4 + i % 4 * 2 + i / 4;
      if (quad * 4 < k.width)
        _mm256_storeu_ps(reinterpret_cast<float*>(to + (1 + quad) * kKeyStep), quads[i]);
    }
  }
}

void store_values_of_8(const Heads& v, KvQuad* scale, KvQuad* to) {
  const EightScales scales = store_scales_of_8(v, scale);
  for (uint32_t first = 0; first < kLanes; first += 4, to += v.width) {
    for (uint32_t e = 0; e < v.width; e += kGroupColumns) {
      __m256i q[4];
      MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) q[i] = bytes_of(v, first + i, e, scales);
      // The order of mixed quads is one that unpacking by lanes of 128 bits undoes.
      const __m256i low01 = _mm256_unpacklo_epi8(q[0], q[1]), high01 = _mm256_unpackhi_epi8(q[0], q[1]);
      const __m256i low23 = _mm256_unpacklo_epi8(q[2], q[3]), high23 = _mm256_unpackhi_epi8(q[2], q[3]);
      const __m256i columns[] = {_mm256_unpacklo_epi16(low01, low23), _mm256_unpackhi_epi16(low01, low23),
                                 _mm256_unpacklo_epi16(high01, high23),
                                 _mm256_unpackhi_epi16(high01, high23)};
      MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors; ++i) {
        const uint32_t column = e + i * kLanes;
        if (column >= v.width) continue;
        store_first(reinterpret_cast<float*>(to + column), v.width - column, _mm256_castsi256_ps(columns[i]));
      }
    }
  }
}

}  // namespace

void kv_store_f32_i8(const KvStoreArgs& args, Range rows, void*) {
  const KvCacheView& cache = args.cache;
  const uint32_t key_dim = cache.key_dim, value_dim = cache.value_dim;
  assert(cache.page_positions % kKeyStep == 0 && key_dim % 4 == 0 && value_dim % 4 == 0);
  for (uint32_t t = rows.begin, next; t < rows.end; t = next) {
    const bool eight = are_neighbours(args, t, rows.end, kLanes);
    next = t + (eight ? kLanes : 1);
    const KvPlace at = place_of(args, t);
    const uint32_t place = at.place % kKeyStep;
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t start = cache.head_of_page(at.page, g) * cache.page_positions + at.place - place;
      KvQuad* key = static_cast<KvQuad*>(cache.keys) + start * (1 + key_dim / 4) + place;
      KvQuad* block = static_cast<KvQuad*>(cache.values) + start * (1 + value_dim / 4);
      KvQuad *scale = block + place, *value = block + kKeyStep + place / 4 * value_dim;
      const Heads k = {args.k, t, g * key_dim, key_dim}, v = {args.v, t, g * value_dim, value_dim};
      if (eight) {
        store_keys_of_8(k, key);
        store_values_of_8(v, scale, value);
      } else {
        store_key_i8<Rows256>(k[0], key_dim, key);
        store_value_i8<Rows256>(v[0], value_dim, place % 4, scale, value);
      }
    }
  }
}

}  // namespace mote::avx2
