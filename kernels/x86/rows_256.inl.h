// SPDX-License-Identifier: Apache-2.0
//
// The functions that the kernels which work on rows take besides floats (simd/floats.h, simd/ints.h), in
// vectors of 256 bits. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/quantize_avx2.inl.h"

namespace mote {
namespace {

struct Rows256 : Floats256 {
  using Bytes = __m256i;
  using Floats256::add;
  using Floats256::max;
  using Floats256::max_lanes;
  using Floats256::store;

  static Float load_bytes(const int8_t* from) {
    return to_float(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  static float half(uint16_t h) { return _cvtsh_ss(h); }
  static float sum_lanes(Float x) { return avx2::sum_lanes(x); }
  static Float first_of(uint32_t count, Float x, Float other) {
    return _mm256_blendv_ps(other, x, _mm256_castsi256_ps(avx2::tail_mask(count)));
  }
  static Float swap_neighbours(Float x) { return _mm256_permute_ps(x, _MM_SHUFFLE(2, 3, 0, 1)); }
  static Float load_twice(const float* from, uint32_t count) {
    const __m128i mask = _mm256_castsi256_si128(avx2::tail_mask(count));
    const __m128 four = count >= 4 ? _mm_loadu_ps(from) : _mm_maskload_ps(from, mask);
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(four), _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
  }
  static Float sub_add(Float a, Float b) { return _mm256_addsub_ps(a, b); }
  static void transpose(Float (&x)[kLanes]) { avx2::transpose8(x); }
  static void store(uint16_t* to, Float x) {
    const __m128i half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), half);
  }

  static Int zero_int() { return _mm256_setzero_si256(); }
  static Int magnitude(Float x) { return bits(abs(x)); }
  static Int max(Int a, Int b) { return _mm256_max_epi32(a, b); }
  static Int add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static int32_t max_lanes(Int n) { return avx2::max_lanes(n); }
  static int32_t sum_lanes(Int n) { return avx2::sum_lanes(n); }
  static Int max_of_each(const Int x[kLanes]) {
    return avx2::combine_lanes(x, [](Int a, Int b) { return _mm256_max_epi32(a, b); });
  }
  static Int sum_of_each(const Int x[kLanes]) {
    return avx2::combine_lanes(x, [](Int a, Int b) { return _mm256_add_epi32(a, b); });
  }
  static Float as_float(Int n) { return _mm256_castsi256_ps(n); }
  static Int bits(Float x) { return _mm256_castps_si256(x); }
  static void store(int32_t* to, Int n) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), n); }

  static Bytes round_to_bytes(const Float x[4], Float by) { return avx2::round_to_bytes(x, by); }
  static Bytes unless_zero(Float by, Bytes b) {
    return _mm256_and_si256(b, bits(_mm256_cmp_ps(by, _mm256_setzero_ps(), _CMP_NEQ_OQ)));
  }
  static Int sum_by_lane(Bytes b) { return avx2::sum_bytes(b); }
  static void store(int8_t* to, Bytes b) { _mm256_store_si256(reinterpret_cast<__m256i*>(to), b); }
};

}  // namespace
}  // namespace mote
