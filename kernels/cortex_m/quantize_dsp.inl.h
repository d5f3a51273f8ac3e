// SPDX-License-Identifier: Apache-2.0
//
// Quantizing as reference/quantize.inl.h does, bit for bit. VCVTR rounds to even, as the FPU is set after
// reset; absmax is a maximum of bits, which orders magnitudes as numbers and NaN and infinities above them.
#pragma once

#include "kernels/reference/quantize.inl.h"
#include "schema/f16.h"

namespace mote::dsp {

/// Returns the scale for the largest magnitude's bits.
static inline ref::GroupScale scale_of_magnitude(uint32_t largest) {
  if (largest >= 0x7F800000u) return {NAN, 0.0f};
  const float absmax = f32_from_bits(largest);
  if (absmax < 0x1p-100f) return {0.0f, 0.0f};
  return {absmax / 127.0f, 127.0f / absmax};
}

static inline int32_t rounded(float value) {
  int32_t result;
  float bits;
  __asm__("vcvtr.s32.f32 %1, %2\n\tvmov %0, %1" : "=r"(result), "=&t"(bits) : "t"(value));
  return result;
}

/// Returns the scale of n columns; `columns`: a factor for each, or null.
static inline ref::GroupScale group_scale(const float* x, const float* columns, uint32_t n) {
  uint32_t largest = 0;  // without the sign, times 2
  if (columns == nullptr) {
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t magnitude = bits_from_f32(x[i]) << 1;
      largest = magnitude > largest ? magnitude : largest;
    }
  } else {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t magnitude = bits_from_f32(x[i] * columns[i]) << 1;
      largest = magnitude > largest ? magnitude : largest;
    }
  }
  return scale_of_magnitude(largest >> 1);
}

/// n columns, then zeros up to `padded`. In a file q may overlap x; then x may have changed after its scale
/// was computed, and q is anything.
static inline void quantize_columns(const float* x, const float* columns, uint32_t n, uint32_t padded,
                                    int8_t* q, float* scale, int32_t* sum) {
  const ref::GroupScale group = group_scale(x, columns, n);
  const uint32_t used = group.inverse == 0.0f ? 0 : n;
  int32_t total = 0;
  if (columns == nullptr) {
#pragma GCC unroll 4
    for (uint32_t i = 0; i < used; ++i) {
      const int32_t value = rounded(x[i] * group.inverse);
      q[i] = static_cast<int8_t>(value);
      total += value;
    }
  } else {
    for (uint32_t i = 0; i < used; ++i) {
      const int32_t value = rounded(x[i] * columns[i] * group.inverse);
      q[i] = static_cast<int8_t>(value);
      total += value;
    }
  }
  for (uint32_t i = used; i < padded; ++i) q[i] = 0;
  *scale = group.scale;
  *sum = total;
}

}  // namespace mote::dsp
