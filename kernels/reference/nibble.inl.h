// SPDX-License-Identifier: Apache-2.0
//
// Column k of a group in the nibbles of a 4-bit supercell: [j][row][i % 4], j = k / 8, i = k % 8, low half
// for i < 4.
#pragma once

#include <stdint.h>

namespace mote::ref {

static inline int32_t nibble(const uint8_t (&nibbles)[4][16][4], uint32_t row, uint32_t k) {
  const uint32_t byte = nibbles[k / 8][row][k % 4];
  return static_cast<int32_t>(k % 8 < 4 ? byte & 15u : byte >> 4);
}

}  // namespace mote::ref
