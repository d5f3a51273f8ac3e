// SPDX-License-Identifier: Apache-2.0
//
// Two products of 16 bits an instruction. Activations are widened once a call, into pairs in scratch; weights
// where they are used.
#pragma once

#include <string.h>

#include "kernels/ops.h"

namespace mote::dsp {

static inline uint32_t load_word(const void* from) {
  uint32_t word;
  memcpy(&word, from, 4);
  return word;
}

/// Bytes 0 and 2 as two int16.
static inline uint32_t even_bytes(uint32_t word) {
  uint32_t pair;
  __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}

/// Bytes 1 and 3.
static inline uint32_t odd_bytes(uint32_t word) {
  uint32_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}

struct HalfPair {
  float first, second;
};

/// Two halves at an address that is a multiple of 4.
static inline HalfPair widen_halves(const uint16_t* halves) {
  // In assembly, so that no compiler flag for a type of halves is needed.
  HalfPair pair;
  __asm__("vmov %1, %2\n\tvcvtb.f32.f16 %0, %1\n\tvcvtt.f32.f16 %1, %1"
          : "=&t"(pair.first), "=&t"(pair.second)
          : "r"(load_word(halves)));
  return pair;
}

/// Makes the pairs (a, c) and (b, d) of each 4 columns a, b, c, d, for weights of 8 bits.
static inline void widen_quads(const int8_t* q, uint32_t columns, uint32_t* pairs) {
  for (uint32_t k = 0; k < columns; k += 4) {
    const uint32_t word = load_word(q + k);
    *pairs++ = even_bytes(word);
    *pairs++ = odd_bytes(word);
  }
}

/// Makes the pairs (a, c), (e, g), (b, d) and (f, h) of each 8 columns a to h, for nibbles.
static inline void widen_octets(const int8_t* q, uint32_t columns, uint32_t* pairs) {
  for (uint32_t k = 0; k < columns; k += 8) {
    const uint32_t low = load_word(q + k), high = load_word(q + k + 4);
    *pairs++ = even_bytes(low);
    *pairs++ = even_bytes(high);
    *pairs++ = odd_bytes(low);
    *pairs++ = odd_bytes(high);
  }
}

/// Returns the bytes of the pairs of a row of activations.
static inline uint64_t pairs_bytes(uint64_t inputs) {
  return align_up(activation_padded(inputs) * 2, kAlignment);
}

}  // namespace mote::dsp
