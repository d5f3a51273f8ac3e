// SPDX-License-Identifier: Apache-2.0
//
// The vectors that attention.inl.h takes over a cache of i8, made of vectors that have floats and integers
// (floats.h, ints.h) and of Words, which multiplies bytes four to an int32:
//
//   set(i), load(p)           an int32_t in each lane; kLanes words
//   load_first(p, n)          the first n words; the other lanes are 0 and their memory is not touched
//   dot(sum, u8, s8)          each lane of sum plus four products of unsigned by signed bytes, exact while
//                             the bytes stay within the limit that joint states
//   joint(x)                  the magnitudes that a byte's levels must hold, from a row's magnitudes, 4 a
//                             lane: each magnitude, or the sum of those whose products are added in fewer
//                             than 32 bits
//   store_quads(p, n, count)  the last byte of each of the first `count` lanes; count is a multiple of 4, or
//                             kLanes
//
// Keys and weights are unsigned.
#pragma once

#include "kernels/simd/int8_queries.inl.h"
#include "kernels/simd/ints.h"
#include "kernels/simd/rough_exp.inl.h"

namespace mote {
namespace {

template <class Base, class Words>
struct Int8Floats : Base {
  using Float = typename Base::Float;
  using Int = typename Base::Int;
  using Dot = Int;
  using Query = KvQuad;
  using Total = Float;
  static constexpr uint32_t kPacked = 4, kScales = 1;
  static constexpr uint32_t kQueryTail = 2;  // its scale, and where its dot products start
  static constexpr float kMostWeight = 255.0f;

  using Base::fma;
  using Base::kLanes;
  using Base::load;
  using Base::load_first;
  using Base::set;

  static Int set(KvQuad quad) { return Words::set(word_of<int32_t>(&quad)); }
  static Int load(const KvQuad* from) { return Words::load(from); }
  static Int load_values(const KvQuad* from) { return Words::load(from); }
  static Int load_first_values(const KvQuad* from, uint32_t count) { return Words::load_first(from, count); }
  /// dot + signed * unsigned.
  static Int fma(Int query, Int key, Int dot) { return Words::dot(dot, key, query); }
  static Float joint(Float magnitudes) { return Words::joint(magnitudes); }
  static Int zero_dot() { return Base::zero_int(); }
  static int32_t sum(Int n) { return Base::sum_lanes(n); }
  static float sum(Float total) { return Base::sum_lanes(total); }

  static Int dot_start(const KvQuad* query, uint32_t quads) { return set(query[quads + 1]); }
  static Float score(Int dot, float, const KvQuad* query, uint32_t quads, const KvQuad* scales) {
    return Base::mul(Base::to_float(dot), Base::mul(set(word_of<float>(query + quads)), load_floats(scales)));
  }
  static void pack(const float* from, uint32_t count, float factor, KvQuad* to) {
    pack_query<Int8Floats>(from, count, factor, to);
  }
  static void store_quads(KvQuad* to, Int n, uint32_t count) { Words::store_quads(to, n, count); }

  static Float rough_exp(Float x, Float shift) { return mote::rough_exp<Base>(x, shift); }
  static Float shift_of(float largest) { return rough_shift<Base>(largest); }

  /// Floats that are not negative compare as their bits do as integers, and NaN is the largest.
  static Int max_magnitude(Int largest, Float x) { return Base::max(largest, Base::bits(x)); }
  static float max_magnitude(Int largest) {
    const int32_t bits = Base::max_lanes(largest);
    return word_of<float>(&bits);
  }
  /// Scales of the kLanes positions of a tile's values from `at` on.
  static Float load_scales(const KvQuad* values, uint32_t width, uint32_t at) {
    return load_floats(values + static_cast<size_t>(at / 16) * 16 * (width / kPacked + kScales) + at % 16);
  }
  /// Stores weight * step, from 0 to 255 and rounded, as bytes of the weights' row from position `at` on.
  /// Adding 2^23 rounds and leaves the byte in the last bits. NaN becomes 0.
  static void store_weights(float* weights, uint32_t at, Float weight, Float step) {
    Words::store_quads(reinterpret_cast<KvQuad*>(weights) + at / kPacked,
                       Base::bits(fma(weight, step, set(0x1p23f))), kLanes);
  }
  static Int weight(const float* weights, uint32_t quad) {
    return Words::set(word_of<int32_t>(weights + quad));
  }

 private:
  static Float load_floats(const KvQuad* from) { return Base::as_float(Words::load(from)); }
};

}  // namespace
}  // namespace mote
