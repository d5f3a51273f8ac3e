// SPDX-License-Identifier: Apache-2.0
//
// Rotates pairs (a, b) of the first R columns of each head: a' = a cos - b sin, b' = b cos + a sin. The
// products are rounded before the sum, as in the reference: the same bits.
//
// half: pairs (i, i + R/2), a vector of each at a time. interleaved: pairs (2i, 2i + 1) in one register, of 8
// lanes by
//   x          a0 b0 a1 b1 | a2 b2 a3 b3
//   swapped    b0 a0 b1 a1 | b2 a2 b3 a3
//   cos, sin   c0 c0 c1 c1 | c2 c2 c3 c3
// and x cos -+ swapped sin, minus in the even lanes. The last pairs are masked. The loop is not unrolled: no
// iteration depends on the one before, and the stores bound it.
#pragma once

#include <assert.h>

#include "kernels/simd/floats.h"

namespace mote {
namespace {

template <class V>
inline void rotate_halves(float* x, const float* cosines, const float* sines, uint32_t half) {
  each_vector<V::kLanes>(half, [&](uint32_t i, uint32_t left) MOTE_INLINE {
    const auto cosine = V::load_first(cosines + i, left);
    const auto sine = V::load_first(sines + i, left);
    const auto a = V::load_first(x + i, left);
    const auto b = V::load_first(x + half + i, left);
    V::store_first(x + i, left, V::sub(V::mul(a, cosine), V::mul(b, sine)));
    V::store_first(x + half + i, left, V::add(V::mul(b, cosine), V::mul(a, sine)));
  });
}

template <class V>
inline void rotate_neighbours(float* x, const float* cosines, const float* sines, uint32_t half) {
  each_vector<V::kLanes / 2>(half, [&](uint32_t i, uint32_t left) MOTE_INLINE {
    const auto pairs = V::load_first(x + 2 * i, 2 * left);
    const auto by_cosine = V::mul(pairs, V::load_twice(cosines + i, left));
    const auto by_sine = V::mul(V::swap_neighbours(pairs), V::load_twice(sines + i, left));
    V::store_first(x + 2 * i, 2 * left, V::sub_add(by_cosine, by_sine));
  });
}

template <class V>
void rope(const RopeArgs& args, Range rows, void*) {
  static_assert(CheckRows<V>::kPasses);
  assert(args.rotary_width % 2 == 0 && args.rotary_width <= args.head_dim);
  const uint32_t half = args.rotary_width / 2;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* cosines = args.table[t];
    for (uint32_t head = 0; head < args.heads; ++head) {
      float* x = args.x[t] + head * args.head_dim;
      if (args.kind == RopeKind::half) {
        rotate_halves<V>(x, cosines, cosines + half, half);
      } else {
        rotate_neighbours<V>(x, cosines, cosines + half, half);
      }
    }
  }
}

}  // namespace
}  // namespace mote
