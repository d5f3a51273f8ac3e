// SPDX-License-Identifier: Apache-2.0
//
// bf16, the upper half of an IEEE float, without hardware: the specification that AVX-512-BF16 equals.
#pragma once

#include "schema/f16.h"

namespace mote {

struct Bf16 {
  uint16_t bits;
};

/// Two that are multiplied together.
struct Bf16Pair {
  Bf16 first, second;
};

inline float f32_from_bf16(Bf16 value) { return f32_from_bits(uint32_t{value.bits} << 16); }

/// To nearest, ties to even; subnormals become 0, a signalling NaN quiet, as VCVTNEPS2BF16 has it.
inline Bf16 bf16_from_f32(float value) {
  const uint32_t bits = bits_from_f32(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return {static_cast<uint16_t>(bits >> 16 | 0x40u)};
  if (magnitude < 0x00800000u) return {static_cast<uint16_t>(bits >> 16 & 0x8000u)};
  return {static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16)};
}

}  // namespace mote
