// SPDX-License-Identifier: Apache-2.0
//
// Quantizing as reference/quantize.inl.h does, bit for bit. Rounding to even is an addition of 1.5 * 2^23,
// which is exact for magnitudes below 2^22; absmax is a maximum of bits, which orders magnitudes as numbers
// and NaN and infinities above them.
#pragma once

#include "kernels/reference/quantize.inl.h"
#include "schema/f16.h"

namespace mote::dsp {

/// Of the largest magnitude's bits.
static inline ref::GroupScale scale_of_magnitude(uint32_t largest) {
  if (largest >= 0x7F800000u) return {NAN, 0.0f};
  const float absmax = f32_from_bits(largest);
  if (absmax < 0x1p-100f) return {0.0f, 0.0f};
  return {absmax / 127.0f, 127.0f / absmax};
}

static inline ref::GroupScale scale_of(const float* x, const float* columns, uint32_t n) {
  uint32_t largest = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t magnitude = bits_from_f32(columns == nullptr ? x[i] : x[i] * columns[i]) & 0x7FFFFFFFu;
    largest = magnitude > largest ? magnitude : largest;
  }
  return scale_of_magnitude(largest);
}

/// n columns, then zeros up to `padded`.
static inline void quantize_columns(const float* x, const float* columns, uint32_t n, uint32_t padded,
                                    int8_t* q, float* scale, int32_t* sum) {
  constexpr float kRound = 0x1.8p23f;
  const ref::GroupScale group = scale_of(x, columns, n);
  int32_t total = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const float scaled = (columns == nullptr ? x[i] : x[i] * columns[i]) * group.inverse;
    // In a file out may overlap in; then x may have changed since, and q is 0 where it does not fit.
    const bool fits = scaled >= -127.5f && scaled <= 127.5f;
    const float rounded = fits ? (scaled + kRound) - kRound : 0.0f;
    const int32_t value = rounded >= -127.0f && rounded <= 127.0f ? static_cast<int32_t>(rounded) : 0;
    q[i] = group.inverse == 0.0f ? int8_t{0} : static_cast<int8_t>(value);
    total += q[i];
  }
  for (uint32_t i = n; i < padded; ++i) q[i] = 0;
  *scale = group.scale;
  *sum = total;
}

}  // namespace mote::dsp
