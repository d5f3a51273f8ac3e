// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of sizes that a file and a caller choose. Where a result does not fit 64 bits it is
// UINT64_MAX, which stays UINT64_MAX in whatever is computed from it and is refused at the end (layout.cpp).
#pragma once

#include <stdint.h>

namespace mote {

constexpr uint64_t saturating_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

constexpr uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}
template <class... More>
constexpr uint64_t saturating_multiply(uint64_t a, uint64_t b, More... more) {
  return saturating_multiply(saturating_multiply(a, b), more...);
}

/// `multiple` is a power of two.
constexpr uint64_t saturating_align_up(uint64_t value, uint64_t multiple) {
  return value > UINT64_MAX - (multiple - 1) ? UINT64_MAX : (value + multiple - 1) & ~(multiple - 1);
}

}  // namespace mote
