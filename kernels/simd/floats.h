// SPDX-License-Identifier: Apache-2.0
//
// Vectors of floats for the templates of this folder: a struct V of types, constants and static functions. A
// V is one register of a CPU (x86/floats_256.inl.h) or emulates one. This page lists the members that a new V
// needs; each template checks them, and the error names the missing one.
//
// Types and constants
//   Float, Int     kLanes floats, and as many int32
//   kLanes         4, 8 or 16
//   kVectors       16 / kLanes: the vectors of a panel's outputs, or of 16 positions
//   kFused         whether fma rounds once. Without, results differ from those of families that do, by a
//                  rounding for each product.
//   kLooksUp       whether look_up gives lanes of a table of 32 floats
//
// Memory; no address need be aligned
//   set(f)                       f in each lane
//   load(p), store(p, x)         kLanes floats; load also takes IEEE halves, and converts them exactly
//   load_first(p, n)             the first n lanes, all of them where n >= kLanes, of floats or halves; the
//                                other lanes are 0 and their memory is not touched
//   store_first(p, n, x)         the first n lanes; other memory is not touched
//
// Arithmetic, lane by lane, each rounded to nearest even
//   add, sub, mul, div
//   fma(a, b, c)                 a b + c; negated_fma(a, b, c): c - a b
//   min(a, b), max(a, b)         b where either is a NaN, and where they are equal
//   abs(x), negate(x), copy_sign(magnitude, x), of bits
//   where_less(a, b, yes, no)    a < b ? yes : no
//   to_int(x), to_float(n)       to nearest even; where x is no int32, INT_MIN, or what is nearest and 0 for
//   NaN.
//                                (The last 9 bits of a NaN's are 0: it stays one in add_to_exponent.)
//   add_to_exponent(x, n)        x 2^n by adding n to its exponent field
//   look_up(table, i)            where kLooksUp: lane i mod 32 of the table, by the last bits of i
//   limit(x, most)               where kLooksUp: x, or `most` with x's sign where |x| is larger
//
// Functions for the kernels that work on rows (CheckRows)
//   load_bytes(p)                kLanes int8 as floats
//   half(h)                      an IEEE half as a scalar
//   sum_lanes(x)                 of all lanes, always in the same order
//   first_of(n, x, other)        x in the first n lanes, else other
//   swap_neighbours(x)           lanes 1 0 3 2 ...
//   load_twice(p, n)             the first n <= kLanes / 2 floats, each in two lanes; the others are 0
//   sub_add(a, b)                a - b in even lanes, a + b in odd ones
//   transpose(x)                 kLanes vectors x in place: lane j of x[i] becomes lane i of x[j]
//   store(p, x)                  also as IEEE halves, to nearest even
//
// linear_float.inl.h needs the shapes of tiles, which follow from the number of registers.
// attention_tile.inl.h lists the members that attention needs besides.
#pragma once

#include "kernels/ops.h"
#include "kernels/simd/check.h"
#include "kernels/simd/compiler.h"

namespace mote {
namespace {

/// The members that every template needs.
template <class V>
struct CheckFloats {
  static_assert(V::kLanes == 4 || V::kLanes == 8 || V::kLanes == 16, "kLanes is 4, 8 or 16");
  static_assert(V::kLanes * V::kVectors == kPanelRows, "kVectors vectors are 16 lanes");
  MOTE_NEEDS(V, v.kFused);
  MOTE_NEEDS(V, v.kLooksUp);
  MOTE_NEEDS(V, v.x = v.set(0.0f));
  MOTE_NEEDS(V, v.x = v.load(static_cast<const float*>(nullptr)));
  MOTE_NEEDS(V, v.x = v.load_first(static_cast<const float*>(nullptr), 1u));
  MOTE_NEEDS(V, v.store(static_cast<float*>(nullptr), v.x));
  MOTE_NEEDS(V, v.store_first(static_cast<float*>(nullptr), 1u, v.x));
  MOTE_NEEDS(V, v.x = v.add(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.sub(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.mul(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.div(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.fma(v.x, v.x, v.x));
  MOTE_NEEDS(V, v.x = v.negated_fma(v.x, v.x, v.x));
  MOTE_NEEDS(V, v.x = v.min(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.max(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.abs(v.x));
  MOTE_NEEDS(V, v.x = v.negate(v.x));
  MOTE_NEEDS(V, v.x = v.copy_sign(v.x, v.x));
  MOTE_NEEDS(V, v.x = v.where_less(v.x, v.x, v.x, v.x));
  MOTE_NEEDS(V, v.n = v.to_int(v.x));
  MOTE_NEEDS(V, v.x = v.to_float(v.n));
  MOTE_NEEDS(V, v.x = v.add_to_exponent(v.x, v.n));
  static constexpr bool kPasses = true;
};

/// The members that the kernels which work on rows need besides, except transpose and the store of halves,
/// which only kv_store needs.
template <class V>
struct CheckRows : CheckFloats<V> {
  MOTE_NEEDS(V, v.x = v.load(static_cast<const uint16_t*>(nullptr)));
  MOTE_NEEDS(V, v.x = v.load_first(static_cast<const uint16_t*>(nullptr), 1u));
  MOTE_NEEDS(V, v.x = v.load_bytes(static_cast<const int8_t*>(nullptr)));
  MOTE_NEEDS(V, v.half(uint16_t{0}) + 0.0f);
  MOTE_NEEDS(V, v.sum_lanes(v.x) + 0.0f);
  MOTE_NEEDS(V, v.x = v.first_of(1u, v.x, v.x));
  MOTE_NEEDS(V, v.x = v.swap_neighbours(v.x));
  MOTE_NEEDS(V, v.x = v.load_twice(static_cast<const float*>(nullptr), 1u));
  MOTE_NEEDS(V, v.x = v.sub_add(v.x, v.x));
};

/// Members that attention needs (attention_tile.inl.h), for a V whose queries and sums of products are
/// floats.
template <class V>
struct FloatScores {
  using Query = float;
  static constexpr uint32_t kPacked = 1, kScales = 0, kQueryTail = 0;
  static auto dot_start(const float*, uint32_t) { return V::set(0.0f); }
  template <class Dot, class T>
  static auto score(Dot dot, float scale, const float*, uint32_t, const T*) {
    return V::mul(V::set(scale), dot);
  }
  static auto shift_of(float largest) { return V::set(largest); }
  static auto weight(const float* weights, uint32_t at) { return V::set(weights[at]); }
};

/// Calls step(i, left) for columns i = 0, kStep, ... below n, left being kStep, or in the end what is left.
template <uint32_t kStep, class Step>
inline void each_vector(uint32_t n, const Step& step) {
  uint32_t i = 0;
  for (; i + kStep <= n; i += kStep) step(i, kStep);
  if (i < n) step(i, n - i);
}

}  // namespace
}  // namespace mote
