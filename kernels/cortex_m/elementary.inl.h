// SPDX-License-Identifier: Apache-2.0
//
// exp, and the activations that are made of it, of one float: the polynomials of simd/elementary.inl.h.
#pragma once

#include "kernels/reference/activation.inl.h"
#include "schema/f16.h"

namespace mote::cortex_m {

// exp(x) = 2^n exp(r), n = round(x / ln 2), r = x - n ln 2 with ln 2 in two parts, exp(r) = 1 + r + r^2 P(r).
inline constexpr float kPerLn2 = 0x1.715476p+0f, kLn2 = 0x1.62e400p-1f, kLn2Rest = 0x1.7f7d1cp-20f;
inline constexpr float kP0 = 0x1.fffffcp-2f, kP1 = 0x1.555492p-3f, kP2 = 0x1.5558f2p-5f, kP3 = 0x1.123a1ep-7f,
                       kP4 = 0x1.6a23cep-10f;
inline constexpr float kWhole = 0x1.8p23f;           // added to a float, it rounds: the last 9 bits are n's
inline constexpr float kLeastExp = -0x1.5d589ep+6f;  // exp of less is 0
inline constexpr float kMostExp = 88.0f;

/// exp(x) for x up to kMostExp: 1 ulp. 0 where exp(x) is subnormal; NaN stays NaN.
static inline float exp_not_large(float x) {
  if (!(x >= kLeastExp)) return x < kLeastExp ? 0.0f : x;
  const float shifted = __builtin_fmaf(x, kPerLn2, kWhole), n = shifted - kWhole;
  float r = __builtin_fmaf(-n, kLn2, x);
  r = __builtin_fmaf(-n, kLn2Rest, r);
  float p = __builtin_fmaf(kP4, r, kP3);
  p = __builtin_fmaf(p, r, kP2);
  p = __builtin_fmaf(p, r, kP1);
  p = __builtin_fmaf(p, r, kP0);
  p = __builtin_fmaf(p, r * r, r) + 1.0f;
  return f32_from_bits(bits_from_f32(p) + (bits_from_f32(shifted) << 23));
}

/// x / (1 + exp(-slope_x)). Where exp would be larger than e^88 the quotient is 0 to 2^-126 |x|.
static inline float times_sigmoid(float x, float slope_x) {
  const float exponent = slope_x > -kMostExp ? -slope_x : slope_x <= -kMostExp ? kMostExp : slope_x;
  return x / (1.0f + exp_not_large(exponent));
}

/// As ref::activate, within 1.4e-7 |x| of the exact value where it is made of exp.
static inline float activate(Activation activation, float x) {
  const auto built = [](Activation kind) { return has_activation(static_cast<unsigned>(kind)); };
  switch (activation) {
    case Activation::silu:
      return times_sigmoid(x, x);
    case Activation::gelu_tanh:
      if (!built(Activation::gelu_tanh)) break;
      return times_sigmoid(x, 1.5957691216057308f * x * __builtin_fmaf(x * x, 0.044715f, 1.0f));
    case Activation::quick_gelu:
      if (!built(Activation::quick_gelu)) break;
      return times_sigmoid(x, 1.702f * x);
    case Activation::sigmoid:
      if (!built(Activation::sigmoid)) break;
      return times_sigmoid(1.0f, x);
    default:
      break;
  }
  return ref::activate(activation, x);
}

}  // namespace mote::cortex_m
