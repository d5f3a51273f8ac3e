// SPDX-License-Identifier: Apache-2.0
//
// The integers of dots.h in any vector, by the compiler's operators: lanes of 32 bits, mod 2^32. A family
// hides what it has better instructions for. Everything has internal linkage: see "Kernels" in
// docs/design.md.
#pragma once

#include <string.h>

#include "kernels/ops.h"

namespace mote {
namespace {

/// F: the family's floats, whose Int it is.
template <class F>
struct DotWords {
  using Int = typename F::Int;  // kPanelRows / kVectors words of 4 bytes, or int32
  static constexpr uint32_t kVectors = kPanelRows * sizeof(int32_t) / sizeof(Int);
  static constexpr bool kUnpacks = false;
  static constexpr bool kUnrolls = true;
  static constexpr bool kUnrollsQuads = true;

  static Int zero() { return Int{}; }
  static Int set(int32_t value) { return reinterpret_cast<Int>(Words{} + static_cast<uint32_t>(value)); }
  static Int broadcast_word(const char* bytes) {
    int32_t word;
    memcpy(&word, bytes, sizeof word);
    return set(word);
  }
  static Int low_nibbles(Int v) { return reinterpret_cast<Int>(words(v) & 0x0F0F0F0Fu); }
  static Int high_nibbles(Int v) {
    return low_nibbles(reinterpret_cast<Int>(reinterpret_cast<Halves>(v) >> 4));
  }
  static Int high_nibbles_in_place(Int v) { return reinterpret_cast<Int>(words(v) & 0xF0F0F0F0u); }
  static Int add_128(Int v) { return reinterpret_cast<Int>(words(v) ^ 0x80808080u); }
  static Int add_sixteenth(Int sum, Int v) {
    return reinterpret_cast<Int>(words(sum) + reinterpret_cast<Words>(reinterpret_cast<Ints>(v) >> 4));
  }
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return reinterpret_cast<Int>(-(words(v) << __builtin_ctz(factor)));
  }

  /// v << by, or v >> -by, & mask.
  template <int by, uint32_t mask>
  static Int shifted(Int v) {
    const Words to = by < 0 ? words(v) >> (by < 0 ? -by : 0) : words(v) << (by < 0 ? 0 : by);
    return reinterpret_cast<Int>(to & mask);
  }
  template <uint32_t i>
  static Int signed_byte(Int v) {
    return reinterpret_cast<Int>(reinterpret_cast<Ints>(words(v) << (24 - 8 * i)) >> 24);
  }
  static Int either(Int a, Int b) { return reinterpret_cast<Int>(words(a) | words(b)); }
  static Int plus(Int a, Int b) { return reinterpret_cast<Int>(words(a) + words(b)); }
  static Int times(Int a, Int b) { return reinterpret_cast<Int>(words(a) * words(b)); }

 private:
  typedef uint32_t Words __attribute__((vector_size(sizeof(Int))));
  typedef int32_t Ints __attribute__((vector_size(sizeof(Int))));
  typedef uint16_t Halves __attribute__((vector_size(sizeof(Int))));
  static Words words(Int v) { return reinterpret_cast<Words>(v); }
};

}  // namespace
}  // namespace mote
