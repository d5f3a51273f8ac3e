// SPDX-License-Identifier: Apache-2.0
//
// The functions that the kernels which work on rows take besides floats (simd/floats.h, simd/ints.h), in
// vectors of 128 bits. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/floats_128.inl.h"

namespace mote {
namespace {

struct Rows128 : Floats128 {
  struct Bytes {
    __m128i low, high;
  };
  using Floats128::add;
  using Floats128::max;
  using Floats128::max_lanes;
  using Floats128::store;

  static Float load_bytes(const int8_t* from) {
    int32_t word;
    memcpy(&word, from, sizeof word);
    return to_float(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(word)));
  }
  static float half(uint16_t h) { return _mm_cvtss_f32(from_halves(_mm_cvtsi32_si128(h))); }
  static float sum_lanes(Float x) { return sum(x); }
  static Float first_of(uint32_t count, Float x, Float other) {
    const Int first = _mm_cmplt_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(static_cast<int>(count)));
    return _mm_blendv_ps(other, x, _mm_castsi128_ps(first));
  }
  static Float swap_neighbours(Float x) { return _mm_shuffle_ps(x, x, _MM_SHUFFLE(2, 3, 0, 1)); }
  static Float load_twice(const float* from, uint32_t count) {
    const Float two = count >= 2 ? _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)))
                                 : load_first(from, count);
    return _mm_unpacklo_ps(two, two);
  }
  static Float sub_add(Float a, Float b) { return _mm_addsub_ps(a, b); }
  static void transpose(Float (&x)[kLanes]) { _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]); }
  /// As f16_from_f32 does it: schema/f16.h.
  static void store(uint16_t* to, Float x) {
    const auto constant = [](int32_t i) { return _mm_set1_epi32(i); };
    const Int magnitude = bits(abs(x)), sign = _mm_srli_epi32(_mm_xor_si128(bits(x), magnitude), 16);
    const Int odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), constant(1));
    const Int normal = _mm_srli_epi32(add(add(magnitude, odd), constant(0xFFF - 0x38000000)), 13);
    const Int small = _mm_sub_epi32(bits(add(as_float(magnitude), set(0.5f))), constant(0x3F000000));
    const Int nan =
        _mm_or_si128(constant(0x7E00), _mm_and_si128(_mm_srli_epi32(magnitude, 13), constant(0x3FF)));
    Int half = _mm_blendv_epi8(normal, small, _mm_cmplt_epi32(magnitude, constant(0x38800000)));
    half = _mm_blendv_epi8(half, constant(0x7C00), _mm_cmpgt_epi32(magnitude, constant(0x477FEFFF)));
    half = _mm_or_si128(sign, _mm_blendv_epi8(half, nan, _mm_cmpgt_epi32(magnitude, constant(0x7F800000))));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(half, half));
  }

  static Int zero_int() { return _mm_setzero_si128(); }
  static Int magnitude(Float x) { return _mm_castps_si128(abs(x)); }
  static Int max(Int a, Int b) { return _mm_max_epi32(a, b); }
  static Int add(Int a, Int b) { return _mm_add_epi32(a, b); }
  static int32_t max_lanes(Int n) {
    n = max(n, _mm_shuffle_epi32(n, _MM_SHUFFLE(1, 0, 3, 2)));
    return _mm_cvtsi128_si32(max(n, _mm_shuffle_epi32(n, _MM_SHUFFLE(2, 3, 0, 1))));
  }
  static int32_t sum_lanes(Int n) {
    n = add(n, _mm_shuffle_epi32(n, _MM_SHUFFLE(1, 0, 3, 2)));
    return _mm_cvtsi128_si32(add(n, _mm_shuffle_epi32(n, _MM_SHUFFLE(2, 3, 0, 1))));
  }
  static Int max_of_each(const Int x[kLanes]) {
    return of_each(x, [](Int a, Int b) { return max(a, b); });
  }
  static Int sum_of_each(const Int x[kLanes]) {
    return of_each(x, [](Int a, Int b) { return add(a, b); });
  }
  static Float as_float(Int n) { return _mm_castsi128_ps(n); }
  static Int bits(Float x) { return _mm_castps_si128(x); }
  static void store(int32_t* to, Int n) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), n); }

  static Bytes round_to_bytes(const Float x[8], Float by) { return {sixteen(x, by), sixteen(x + 4, by)}; }
  static Bytes unless_zero(Float by, Bytes b) {
    const __m128i all = bits(_mm_cmpneq_ps(by, _mm_setzero_ps()));
    return {_mm_and_si128(b.low, all), _mm_and_si128(b.high, all)};
  }
  static Int sum_by_lane(Bytes b) {
    const __m128i ones = _mm_set1_epi8(1);
    const __m128i pairs = _mm_add_epi16(_mm_maddubs_epi16(ones, b.low), _mm_maddubs_epi16(ones, b.high));
    return _mm_madd_epi16(pairs, _mm_set1_epi16(1));
  }
  static void store(int8_t* to, Bytes b) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), b.low);
    _mm_store_si128(reinterpret_cast<__m128i*>(to + 16), b.high);
  }

 private:
  template <class Combine>
  static Int of_each(const Int x[kLanes], Combine combine) {
    const Int a = combine(_mm_unpacklo_epi32(x[0], x[1]), _mm_unpackhi_epi32(x[0], x[1]));
    const Int b = combine(_mm_unpacklo_epi32(x[2], x[3]), _mm_unpackhi_epi32(x[2], x[3]));
    return combine(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
  }
  static __m128i sixteen(const Float x[4], Float by) {
    return _mm_packs_epi16(_mm_packs_epi32(to_int(mul(x[0], by)), to_int(mul(x[1], by))),
                           _mm_packs_epi32(to_int(mul(x[2], by)), to_int(mul(x[3], by))));
  }
};

}  // namespace
}  // namespace mote
