// SPDX-License-Identifier: Apache-2.0
//
// IEEE half precision, without hardware: the specification that F16C and NEON conversions equal.
#pragma once

#include <stdint.h>
#include <string.h>

namespace mote {

inline float f32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

inline uint32_t bits_from_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

/// Exact. A signalling NaN becomes quiet, as in hardware.
inline float f32_from_f16(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t mantissa = half & 0x3FFu;
  if (exponent == 31)
    return f32_from_bits(sign | 0x7F800000u | (mantissa << 13) | (mantissa != 0 ? 0x400000u : 0));
  if (exponent != 0) return f32_from_bits(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

/// To nearest, ties to even; beyond 65504 infinity, subnormals kept.
inline uint16_t f16_from_f32(float value) {
  const uint32_t bits = bits_from_f32(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
  if (magnitude >= 0x477FF000u)
    return static_cast<uint16_t>(sign | 0x7C00u);  // 65520 and more round to infinity
  if (magnitude >= 0x38800000u) {                  // normal: 2^-14 and more
    const uint32_t rounded = magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | (rounded >> 13));
  }
  // Subnormal: adding 0.5 leaves multiples of 2^-24 in the low mantissa bits, rounded by the addition itself.
  const uint32_t rounded = bits_from_f32(f32_from_bits(magnitude) + 0.5f) - bits_from_f32(0.5f);
  return static_cast<uint16_t>(sign | rounded);
}

}  // namespace mote
