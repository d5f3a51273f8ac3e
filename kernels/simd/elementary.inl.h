// SPDX-License-Identifier: Apache-2.0
//
// Exponential and activations over the vectors V (floats.h). A lane's bits do not depend on the other lanes,
// nor on V, except in gelu and where V::kFused is false. Errors are the largest over all floats, in units in
// the last place, where products are fused; elsewhere they are one unit larger.
#pragma once

#include <type_traits>

#include "kernels/simd/floats.h"

namespace mote {
namespace {

/// exp(x) for x up to 88.72: 1 ulp. 0 where exp(x) is subnormal (x < -87.33655, -inf too); NaN stays NaN.
///
/// With n = round(x / ln 2) and r = x - n ln 2 (ln 2 in two parts, so that r is exact to 2^-33), exp(r) is
/// 1 + r + r^2 P(r), P of degree 4 fitted to 3.1e-9 relative on |r| <= ln 2 / 2; n is added to the exponent
/// field.
template <class V, class Float = typename V::Float>
inline Float exp_not_large(Float x) {
  const typename V::Int n = V::to_int(V::mul(x, V::set(0x1.715476p+0f)));
  const Float whole = V::to_float(n);
  Float r = V::negated_fma(whole, V::set(0x1.62e400p-1f), x);
  r = V::negated_fma(whole, V::set(0x1.7f7d1cp-20f), r);
  Float p = V::set(0x1.6a23cep-10f);
  p = V::fma(p, r, V::set(0x1.123a1ep-7f));
  p = V::fma(p, r, V::set(0x1.5558f2p-5f));
  p = V::fma(p, r, V::set(0x1.555492p-3f));
  p = V::fma(p, r, V::set(0x1.fffffcp-2f));
  p = V::fma(p, V::mul(r, r), r);
  p = V::add(p, V::set(1.0f));
  // A NaN has n = INT_MIN, whose shift is 0: the payload stays as it is.
  return V::where_less(x, V::set(-0x1.5d589ep+6f), V::set(0.0f), V::add_to_exponent(p, n));
}

/// exp(x) for all x: as above, and infinity where exp(x) exceeds the largest float (x > 88.72283).
template <class V, class Float = typename V::Float>
inline Float exp(Float x) {
  return V::where_less(V::set(0x1.62e42ep+6f), x, V::set(__builtin_inff()), exp_not_large<V>(x));
}

/// x / (1 + exp(-slope_x)), slope_x a multiple of x. By a division: reciprocal estimates differ between CPUs.
template <class V, class Float = typename V::Float>
inline Float times_sigmoid(Float x, Float slope_x) {
  return V::div(x, V::add(V::set(1.0f), exp<V>(V::negate(slope_x))));
}

/// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class V, class Float = typename V::Float>
inline Float gelu_tanh(Float x) {
  const Float cubic = V::fma(V::mul(x, x), V::set(0.044715f), V::set(1.0f));
  return times_sigmoid<V>(x, V::mul(V::set(1.5957691216057308f), V::mul(x, cubic)));
}

/// The coefficients, from degree 0 up, of polynomials in r from -1/2 to 1/2, which are the normal
/// distribution's Phi((i + r) / 2.8125) to 1.1e-7, i being -15 to 15: 0 to 15, then -16, which is not used,
/// to -1. That of -15 is 0, that of 15 is 1.
alignas(64) constexpr float kPhi[5][2][16] = {
    {{0.5f, 0x1.471fa4p-1f, 0x1.85e252p-1f, 0x1.b6c0aep-1f, 0x1.d8546ep-1f, 0x1.ecaffp-1f, 0x1.f7940ap-1f,
      0x1.fcb834p-1f, 0x1.fedc7p-1f, 0x1.ffa5fp-1f, 0x1.ffe748p-1f, 0x1.fff9fap-1f, 0x1.fffeb4p-1f,
      0x1.ffffcp-1f, 0x1.fffff6p-1f, 1},
     {0, 0, 0x1.5951p-22f, 0x1.fd912ap-20f, 0x1.4ce374p-17f, 0x1.8157c2p-15f, 0x1.8b81p-13f, 0x1.684224p-11f,
      0x1.23901p-9f, 0x1.a3e62p-8f, 0x1.0d7ed2p-6f, 0x1.3500f2p-5f, 0x1.3d5c96p-4f, 0x1.24fd44p-3f,
      0x1.e876bap-3f, 0x1.71c0b8p-2f}},
    {{0x1.227fa8p-3f, 0x1.10b482p-3f, 0x1.c3339p-4f, 0x1.48f05p-4f, 0x1.a6a7aap-5f, 0x1.de93acp-6f,
      0x1.dd8a66p-7f, 0x1.a3e9c6p-8f, 0x1.456252p-9f, 0x1.bc5f68p-11f, 0x1.0b647p-12f, 0x1.1b9156p-14f,
      0x1.08fe74p-16f, 0x1.b46d36p-19f, 0x1.3cad4ep-21f, 0},
     {0, 0, 0x1.3cad4ep-21f, 0x1.b46d36p-19f, 0x1.08fe74p-16f, 0x1.1b9156p-14f, 0x1.0b647p-12f,
      0x1.bc5f68p-11f, 0x1.456252p-9f, 0x1.a3e9c6p-8f, 0x1.dd8a66p-7f, 0x1.de93acp-6f, 0x1.a6a7aap-5f,
      0x1.48f05p-4f, 0x1.c3339p-4f, 0x1.10b482p-3f}},
    {{0, -0x1.13cbacp-7f, -0x1.c8510ap-7f, -0x1.f300e4p-7f, -0x1.ab737p-7f, -0x1.2e81f4p-7f, -0x1.6a3a5cp-8f,
      -0x1.739bbep-9f, -0x1.4918dcp-10f, -0x1.f9a382p-12f, -0x1.521398p-13f, -0x1.8a65f8p-15f,
      -0x1.9217ep-17f, -0x1.66b9f4p-19f, -0x1.1857a8p-21f, 0},
     {0, 0, 0x1.1857a8p-21f, 0x1.66b9f4p-19f, 0x1.9217ep-17f, 0x1.8a65f8p-15f, 0x1.521398p-13f,
      0x1.f9a382p-12f, 0x1.4918dcp-10f, 0x1.739bbep-9f, 0x1.6a3a5cp-8f, 0x1.2e81f4p-7f, 0x1.ab737p-7f,
      0x1.f300e4p-7f, 0x1.c8510ap-7f, 0x1.13cbacp-7f}},
    {{-0x1.856c18p-9f, -0x1.3f9d9cp-9f, -0x1.2c802ap-10f, 0x1.d7443cp-13f, 0x1.209c6ap-10f, 0x1.5aa982p-10f,
      0x1.1d4448p-10f, 0x1.7041ap-11f, 0x1.871418p-12f, 0x1.5d869cp-13f, 0x1.0a4c66p-14f, 0x1.5cb18ep-16f,
      0x1.8a77d4p-18f, 0x1.8302fep-20f, 0x1.4a36d2p-22f, 0},
     {0, 0, 0x1.4a36d2p-22f, 0x1.8302fep-20f, 0x1.8a77d4p-18f, 0x1.5cb18ep-16f, 0x1.0a4c66p-14f,
      0x1.5d869cp-13f, 0x1.871418p-12f, 0x1.7041ap-11f, 0x1.1d4448p-10f, 0x1.5aa982p-10f, 0x1.209c6ap-10f,
      0x1.d7443cp-13f, -0x1.2c802ap-10f, -0x1.3f9d9cp-9f}},
    {{0, 0x1.08d65ep-12f, 0x1.7ce642p-12f, 0x1.37c082p-12f, 0x1.1a3f24p-13f, -0x1.e42ae6p-17f,
      -0x1.766b92p-14f, -0x1.8e3764p-14f, -0x1.1a5986p-14f, -0x1.35e7c6p-15f, -0x1.154c12p-16f,
      -0x1.9eb9fap-18f, -0x1.06e1aap-19f, -0x1.1d056ap-21f, -0x1.09e4c8p-23f, 0},
     {0, 0, 0x1.09e4c8p-23f, 0x1.1d056ap-21f, 0x1.06e1aap-19f, 0x1.9eb9fap-18f, 0x1.154c12p-16f,
      0x1.35e7c6p-15f, 0x1.1a5986p-14f, 0x1.8e3764p-14f, 0x1.766b92p-14f, 0x1.e42ae6p-17f, -0x1.1a3f24p-13f,
      -0x1.37c082p-12f, -0x1.7ce642p-12f, -0x1.08d65ep-12f}},
};

/// Phi(x) of the normal distribution, by a table where V looks up 32 floats at once. Adding kWhole rounds:
/// the last bits of the sum are i.
template <class V, class Float = typename V::Float>
inline Float phi_by_table(Float x) {
  const Float kWhole = V::set(0x1.8p23f), scale = V::set(2.8125f), near = V::limit(x, V::set(5.375f));
  const Float i = V::fma(near, scale, kWhole);
  const Float r = V::fma(near, scale, V::sub(kWhole, i));
  Float phi = V::look_up(kPhi[4], i);
  phi = V::fma(phi, r, V::look_up(kPhi[3], i));
  phi = V::fma(phi, r, V::look_up(kPhi[2], i));
  phi = V::fma(phi, r, V::look_up(kPhi[1], i));
  return V::fma(phi, r, V::look_up(kPhi[0], i));
}

/// Phi(x) = 1/2 + x P(x^2) / Q(x^2) elsewhere, both of degree 5, fitted to 1e-8 up to 5.5, where it is 1 and
/// at -5.5 is 0.
template <class V, class Float = typename V::Float>
inline Float phi_by_fraction(Float x) {
  const Float near = V::min(V::set(5.5f), V::max(V::set(-5.5f), x));  // of a NaN, the second operand
  const Float t = V::mul(near, near);
  Float p = V::set(0x1.883e04p-26f);
  p = V::fma(p, t, V::set(0x1.a6b8dap-18f));
  p = V::fma(p, t, V::set(0x1.5a7a5ap-13f));
  p = V::fma(p, t, V::set(0x1.311618p-8f));
  p = V::fma(p, t, V::set(0x1.12aadp-5f));
  p = V::fma(p, t, V::set(0x1.988452p-2f));
  Float q = V::set(0x1.41083ep-20f);
  q = V::fma(q, t, V::set(0x1.2f665ep-14f));
  q = V::fma(q, t, V::set(0x1.e8b63p-10f));
  q = V::fma(q, t, V::set(0x1.d233eep-6f));
  q = V::fma(q, t, V::set(0x1.00ba3cp-2f));
  q = V::fma(q, t, V::set(1.0f));
  return V::add(V::set(0.5f), V::div(V::mul(near, p), q));
}

template <class V, class Float = typename V::Float>
inline Float gelu(Float x) {
  if constexpr (V::kLooksUp) {
    return V::mul(x, phi_by_table<V>(x));
  } else {
    return V::mul(x, phi_by_fraction<V>(x));
  }
}

/// tanh(x) to 3 ulp: (1 - e) / (1 + e) with e = exp(-2 |x|) and the sign of x; below 0.625, where 1 - e
/// cancels, x + x t P(t) with t = x^2, P of degree 4 fitted to 8.6e-9 relative.
template <class V, class Float = typename V::Float>
inline Float tanh(Float x) {
  const Float t = V::mul(x, x);
  Float p = V::set(-0x1.75e1cap-8f);
  p = V::fma(p, t, V::set(0x1.52269ap-6f));
  p = V::fma(p, t, V::set(-0x1.b83c5ap-5f));
  p = V::fma(p, t, V::set(0x1.110726p-3f));
  p = V::fma(p, t, V::set(-0x1.555532p-2f));
  const Float small = V::fma(V::mul(x, t), p, x);
  const Float one = V::set(1.0f), magnitude = V::abs(x);
  const Float e = exp_not_large<V>(V::mul(magnitude, V::set(-2.0f)));
  const Float large = V::div(V::sub(one, e), V::add(one, e));
  return V::where_less(magnitude, V::set(0.625f), small, V::copy_sign(large, x));
}

/// silu, gelu_tanh, quick_gelu, tanh, sigmoid: within 1.4e-7 |x| of the exact value; gelu: 2.2e-7 |x|. NaN
/// stays NaN in all.
template <class V, class Float = typename V::Float>
inline Float activate(Activation kind, Float x) {
  switch (kind) {
    case Activation::silu:
      return times_sigmoid<V>(x, x);
    case Activation::gelu:
      return gelu<V>(x);
    case Activation::gelu_tanh:
      return gelu_tanh<V>(x);
    case Activation::relu:
      return V::max(V::set(0.0f), x);
    case Activation::quick_gelu:
      return times_sigmoid<V>(x, V::mul(x, V::set(1.702f)));
    case Activation::tanh:
      return tanh<V>(x);
    case Activation::sigmoid:
      return times_sigmoid<V>(V::set(1.0f), x);
    case Activation::none:
      return x;
  }
  return x;
}

template <Activation kind>
using ActivationConstant = std::integral_constant<Activation, kind>;

/// Calls run with the activation as a constant, so that a loop branches once and not for each vector.
template <class Run>
inline void with_activation(Activation kind, const Run& run) {
  switch (kind) {
    case Activation::none:
      return run(ActivationConstant<Activation::none>());
    case Activation::silu:
      return run(ActivationConstant<Activation::silu>());
    case Activation::gelu:
      return run(ActivationConstant<Activation::gelu>());
    case Activation::gelu_tanh:
      return run(ActivationConstant<Activation::gelu_tanh>());
    case Activation::relu:
      return run(ActivationConstant<Activation::relu>());
    case Activation::quick_gelu:
      return run(ActivationConstant<Activation::quick_gelu>());
    case Activation::tanh:
      return run(ActivationConstant<Activation::tanh>());
    case Activation::sigmoid:
      return run(ActivationConstant<Activation::sigmoid>());
  }
}

}  // namespace
}  // namespace mote
