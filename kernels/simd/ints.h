// SPDX-License-Identifier: Apache-2.0
//
// The members that quantizing takes beside floats.h: integers and bytes of a struct V.
//
// Types
//   Int            kLanes int32
//   Bytes          32 int8, a group, in one register or more
//
// Integers
//   zero_int()
//   magnitude(x)             the bits of |x|, which order as integers do: finite < infinity < NaN
//   max(a, b)                of two Int; add(a, b), mod 2^32
//   max_lanes(n)             of an Int, an int32_t; sum_lanes(n)
//   max_of_each(x)           lane i is the largest lane of x[i], for kLanes Ints x; sum_of_each(x)
//   as_float(n), bits(x)     the same bits as floats, as integers
//   store(p, n)              kLanes int32_t, anywhere
//
// Bytes
//   round_to_bytes(x, by)    x[i] * by, rounded to nearest even, for 32 / kLanes vectors x; no magnitude of a
//                            product exceeds 127 unless `by` is 0
//   unless_zero(by, b)       b, or 0 where `by`, the same float in each lane, is 0
//   sum_by_lane(b)           an Int whose lanes add up to the sum of all bytes
//   store(p, b)              32 bytes to an address that is a multiple of 32
#pragma once

#include "kernels/simd/floats.h"

namespace mote {
namespace {

/// The vectors of a group of 32 columns.
template <class V>
inline constexpr uint32_t kGroupVectors = kGroupColumns / V::kLanes;

template <class V>
struct CheckInts : CheckFloats<V> {
  MOTE_NEEDS(V, v.n = v.zero_int());
  MOTE_NEEDS(V, v.n = v.magnitude(v.x));
  MOTE_NEEDS(V, v.n = v.max(v.n, v.n));
  MOTE_NEEDS(V, v.n = v.add(v.n, v.n));
  MOTE_NEEDS(V, v.max_lanes(v.n) + int32_t{0});
  MOTE_NEEDS(V, v.sum_lanes(v.n) + int32_t{0});
  MOTE_NEEDS(V, v.n = v.max_of_each(&v.n));
  MOTE_NEEDS(V, v.n = v.sum_of_each(&v.n));
  MOTE_NEEDS(V, v.x = v.as_float(v.n));
  MOTE_NEEDS(V, v.n = v.bits(v.x));
  MOTE_NEEDS(V, v.store(static_cast<int32_t*>(nullptr), v.n));
  MOTE_NEEDS(V, v.unless_zero(v.x, v.round_to_bytes(&v.x, v.x)));
  MOTE_NEEDS(V, v.n = v.sum_by_lane(v.round_to_bytes(&v.x, v.x)));
  MOTE_NEEDS(V, v.store(static_cast<int8_t*>(nullptr), v.round_to_bytes(&v.x, v.x)));
};

}  // namespace
}  // namespace mote
