// SPDX-License-Identifier: Apache-2.0
//
// Queries as attention over a cache of i8 multiplies them, in the vectors V (int8_floats.inl.h,
// x86/int8_512.inl.h). Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include <float.h>
#include <string.h>

#include "kernels/ops.h"

namespace mote {
namespace {

/// Packs a query: its bytes, then their scale times `factor`, then -128 times the sum of the bytes, because
/// stored keys have 128 added. The scale is that of q8c, or coarser where V::joint exceeds the largest
/// magnitude. Magnitudes are halved before V::joint, because a sum of two may overflow. The sum of the
/// products is computed mod 2^32: scores are exact up to kMaxKeyDimI8 columns.
template <class V>
void pack_query(const float* from, uint32_t count, float factor, typename V::Query* to) {
  constexpr float kLevels = 127.0f / 2;
  const typename V::Float half = V::set(0.5f);
  typename V::Int largest_of = V::zero_dot();
  for (uint32_t i = 0; i < count; i += V::kLanes) {
    const auto halves = V::mul(half, V::abs(V::load_first(from + i, count - i)));
    largest_of = V::max_magnitude(largest_of, V::joint(halves));
  }
  const float largest = V::max_magnitude(largest_of);
  const bool finite = largest <= FLT_MAX, zero = !finite || largest < 0x1p-101f;
  const typename V::Float inverse = V::set(zero ? 0.0f : kLevels / largest);
  typename V::Int sum = V::zero_dot();
  for (uint32_t i = 0; i < count; i += V::kLanes) {
    const auto q = finite ? V::to_int(V::mul(V::load_first(from + i, count - i), inverse)) : V::zero_dot();
    V::store_quads(to + i / V::kPacked, q, count - i);
    sum = V::add(sum, q);
  }
  const float scale = !finite ? __builtin_nanf("") : zero ? 0.0f : largest * (factor / kLevels);
  const uint32_t start = 0 - 128 * static_cast<uint32_t>(V::sum(sum));
  memcpy(to + count / V::kPacked, &scale, sizeof scale);
  memcpy(to + count / V::kPacked + 1, &start, sizeof start);
}

/// An element of a packed query, which may be one of its tail.
template <class T>
T word_of(const void* query) {
  T word;
  memcpy(&word, query, sizeof word);
  return word;
}

}  // namespace
}  // namespace mote
