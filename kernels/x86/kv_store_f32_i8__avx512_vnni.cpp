// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t] as i8 in quads (ops.h): the same bits as the reference. A head is read
// twice, for its largest magnitude and to be rounded. Eight neighbouring tokens fill half a block of keys,
// which is transposed quad by quad, and two rows of quads of values; of other tokens each quad is stored, and
// of values only their bytes in it, as another thread may store the others.
#include "kernels/x86/floats_512.inl.h"
#include "kernels/x86/kv_store_avx2.inl.h"
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote::avx512_vnni {
namespace {

using avx2::GroupScale;
constexpr uint32_t kStep = avx2::kKeyStep;  // quads from one of a key to the next; positions of a block
constexpr uint32_t kLanes = Floats512::kLanes;

/// One head of neighbouring tokens, the first of which is `row`.
struct Heads {
  ConstRows x;
  uint32_t row, column, width;
  const float* operator[](uint32_t i) const { return x[row + i] + column; }
};

/// Columns of `width` that are left at e, 0 past them.
uint32_t left(uint32_t width, uint32_t e) { return width > e ? width - e : 0; }

/// Bits of the largest magnitude of each lane.
__m256i largest_bits(const float* x, uint32_t width) {
  __m512i bits = _mm512_setzero_si512();
  for (uint32_t e = 0; e < width; e += kLanes) {
    const __m512i some = _mm512_castps_si512(Floats512::load_first(x + e, width - e));
    bits = _mm512_max_epi32(bits, _mm512_and_si512(some, _mm512_set1_epi32(0x7FFFFFFF)));
  }
  return _mm256_max_epi32(_mm512_castsi512_si256(bits), _mm512_extracti32x8_epi32(bits, 1));
}

/// avx2::scale_of of eight tokens.
void store_scales_of_8(const Heads& heads, KvQuad* scales, float inverse[8]) {
  __m256 bits[8];
  MOTE_UNROLL for (uint32_t i = 0; i < 8; ++i) {
    bits[i] = _mm256_castsi256_ps(largest_bits(heads[i], heads.width));
  }
  avx2::transpose8(bits);
  __m256i largest = _mm256_castps_si256(bits[0]);
  MOTE_UNROLL for (uint32_t i = 1; i < 8; ++i) {
    largest = _mm256_max_epi32(largest, _mm256_castps_si256(bits[i]));
  }
  const __m256 absmax = _mm256_castsi256_ps(largest), most = _mm256_set1_ps(127.0f);
  const __mmask8 finite = _mm256_cmplt_epi32_mask(largest, _mm256_set1_epi32(0x7F800000));
  const __mmask8 some = _mm256_mask_cmp_ps_mask(finite, absmax, _mm256_set1_ps(0x1p-100f), _CMP_GE_OQ);
  const __m256 scale = _mm256_maskz_div_ps(some, absmax, most);
  _mm256_storeu_ps(reinterpret_cast<float*>(scales),
                   _mm256_mask_mov_ps(_mm256_set1_ps(__builtin_nanf("")), finite, scale));
  _mm256_storeu_ps(inverse, _mm256_maskz_div_ps(some, most, absmax));
}

GroupScale store_scale(const float* x, uint32_t width, KvQuad* to) {
  const GroupScale group = avx2::scale_of(avx2::max_lanes(largest_bits(x, width)));
  memcpy(to, &group.scale, sizeof group.scale);
  return group;
}

/// The last bytes are the q of `count` columns: a NaN, of a head that is not finite, becomes INT32_MIN.
__m512i rounded(const float* x, uint32_t count, float inverse) {
  return _mm512_cvtps_epi32(_mm512_mul_ps(Floats512::load_first(x, count), _mm512_set1_ps(inverse)));
}

/// Four quads of a key.
__m128i key_quads(const float* x, uint32_t count, float inverse) {
  return _mm_xor_si128(_mm512_cvtepi32_epi8(rounded(x, count, inverse)), _mm_set1_epi8(-128));
}

/// `to` is where the scale goes; the quads follow, kStep apart.
void store_key(const float* x, uint32_t width, KvQuad* to) {
  const float inverse = store_scale(x, width, to).inverse;
  for (uint32_t e = 0; e < width; e += kLanes) {
    KvQuad quads[4];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(quads), key_quads(x + e, width - e, inverse));
    for (uint32_t i = 0; i < 4 && e + 4 * i < width; ++i) to[(1 + e / 4 + i) * kStep] = quads[i];
  }
}

void store_keys_of_8(const Heads& k, KvQuad* to) {
  float inverse[8];
  store_scales_of_8(k, to, inverse);
  for (uint32_t e = 0; e < k.width; e += 2 * kLanes) {
    __m256 quads[8];
    MOTE_UNROLL for (uint32_t i = 0; i < 8; ++i) {
      const __m128i low = key_quads(k[i] + e, k.width - e, inverse[i]);
      const __m128i high = key_quads(k[i] + e + kLanes, left(k.width, e + kLanes), inverse[i]);
      quads[i] = _mm256_castsi256_ps(_mm256_set_m128i(high, low));
    }
    avx2::transpose8(quads);
    for (uint32_t i = 0; i < 8 && e + 4 * i < k.width; ++i) {
      _mm256_storeu_ps(reinterpret_cast<float*>(to + (1 + e / 4 + i) * kStep), quads[i]);
    }
  }
}

/// To byte `place` of each quad.
void store_value(const float* x, uint32_t width, uint32_t place, KvQuad* scale, KvQuad* to) {
  const float inverse = store_scale(x, width, scale).inverse;
  for (uint32_t e = 0; e < width; e += kLanes) {
    const uint32_t lanes = width - e < kLanes ? width - e : kLanes;
    const __mmask64 bytes = 0x1111111111111111u >> (64 - 4 * lanes) << place;
    const __m512i q = _mm512_slli_epi32(rounded(x + e, lanes, inverse), 8 * place);
    _mm512_mask_storeu_epi8(to + e, bytes, q);
  }
}

/// The last bytes of four vectors become quads.
__m512i join(const __m512i q[4]) {
  const __m512i low = _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAAu, q[0], _mm512_slli_epi32(q[1], 8));
  const __m512i high = _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAAu, q[2], _mm512_slli_epi32(q[3], 8));
  return _mm512_mask_blend_epi16(0xAAAAAAAAu, low, _mm512_slli_epi32(high, 16));
}

void store_values_of_8(const Heads& v, KvQuad* scales, KvQuad* to) {
  float inverse[8];
  store_scales_of_8(v, scales, inverse);
  for (uint32_t first = 0; first < 8; first += 4, to += v.width) {
    for (uint32_t e = 0; e < v.width; e += kLanes) {
      __m512i q[4];
      MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
        q[i] = rounded(v[first + i] + e, v.width - e, inverse[first + i]);
      }
      Floats512::store_first(reinterpret_cast<float*>(to + e), v.width - e, _mm512_castsi512_ps(join(q)));
    }
  }
}

}  // namespace

void kv_store_f32_i8(const KvStoreArgs& args, Range rows, void*) {
  const KvCacheView& cache = args.cache;
  const uint32_t width = cache.head_dim;
  assert(cache.capacity % kStep == 0 && width % 4 == 0);
  for (uint32_t t = rows.begin, next; t < rows.end; t = next) {
    const bool eight = avx2::eight_in_a_row(args, t, rows.end);
    next = t + (eight ? 8 : 1);
    const uint32_t slot = static_cast<uint32_t>(args.positions[t]) % cache.capacity, place = slot % kStep;
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t head = static_cast<size_t>(args.sequences[t]) * cache.kv_heads + g;
      const size_t block = (head * (cache.capacity / kStep) + slot / kStep) * (1 + width / 4) * kStep;
      KvQuad* key = static_cast<KvQuad*>(cache.keys) + block + place;
      KvQuad* scale = static_cast<KvQuad*>(cache.values) + block + place;
      KvQuad* value = static_cast<KvQuad*>(cache.values) + block + kStep + place / 4 * width;
      const Heads k = {args.k, t, g * width, width}, v = {args.v, t, g * width, width};
      if (eight) {
        store_keys_of_8(k, key);
        store_values_of_8(v, scale, value);
      } else {
        store_key(k[0], width, key);
        store_value(v[0], width, place % 4, scale, value);
      }
    }
  }
}

}  // namespace mote::avx512_vnni
