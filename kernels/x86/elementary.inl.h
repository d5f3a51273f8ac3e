// SPDX-License-Identifier: Apache-2.0
//
// Exponential, error function and activations over the vectors V (floats_256.inl.h, floats_512.inl.h). A lane
// gets the same bits whatever the other lanes hold, and whatever V, except from gelu. Errors are the largest
// over all floats, in units in the last place.
#pragma once

#include <type_traits>

#include "kernels/ops.h"

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

/// erf(x) to 6 ulp, never beyond +-1: x P(x^2) / Q(x^2), both of degree 5, fitted to 1.7e-8 relative up
/// to 3.9.
template <class V, class Float = typename V::Float>
inline Float erf(Float x) {
  const Float t = V::mul(x, x);
  Float p = V::set(2.0664717794716125e-06f);
  p = V::fma(p, t, V::set(0.00028506244416348636f));
  p = V::fma(p, t, V::set(0.0037383560556918383f));
  p = V::fma(p, t, V::set(0.05266811326146126f));
  p = V::fma(p, t, V::set(0.18966706097126007f));
  p = V::fma(p, t, V::set(1.1283791065216064f));
  Float q = V::set(3.827002001344226e-05f);
  q = V::fma(q, t, V::set(0.0011573786614462733f));
  q = V::fma(q, t, V::set(0.014914296567440033f));
  q = V::fma(q, t, V::set(0.11381905525922775f));
  q = V::fma(q, t, V::set(0.5014208555221558f));
  q = V::fma(q, t, V::set(1.0f));
  const Float one = V::set(1.0f);
  Float e = V::div(V::mul(V::abs(x), p), q);
  e = V::min(one, e);  // of a NaN, the second operand
  return V::copy_sign(V::where_less(V::set(3.9f * 3.9f), t, one, e), x);
}

/// x / (1 + exp(-slope_x)), slope_x a multiple of x. No reciprocal estimate: makers of CPUs differ in it.
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

/// The coefficients, from degree 0 up, of polynomials in u - i for u = 15 |x| / 5.6 from i to i + 1, which
/// are the normal distribution's Phi(|x|) - 1/2 to 4e-9; from |x| = 5.6 on it is 1/2.
alignas(64) constexpr float kPhi[6][16] = {
    {0x1.0d10c6p-29f, 0x1.2a1606p-3f, 0x1.16e788p-2f, 0x1.797d94p-2f, 0x1.bab36ap-2f, 0x1.e04854p-2f,
     0x1.f32748p-2f, 0x1.fb68c2p-2f, 0x1.fe8e54p-2f, 0x1.ff99d6p-2f, 0x1.ffe73cp-2f, 0x1.fffabep-2f,
     0x1.ffff06p-2f, 0x1.ffffd8p-2f, 0x1.fffffap-2f, 0x1p-1f},
    {0x1.310692p-3f, 0x1.1c7ep-3f, 0x1.cda3f8p-4f, 0x1.45d1ccp-4f, 0x1.90152cp-5f, 0x1.ab5b86p-6f,
     0x1.8d19ep-7f, 0x1.40fadep-8f, 0x1.c3637ap-10f, 0x1.14182cp-11f, 0x1.25cdc6p-13f, 0x1.0ff7dep-15f,
     0x1.b5fe74p-18f, 0x1.32cafap-20f, 0x1.75dbe4p-23f, 0},
    {0x1.8ee838p-20f, -0x1.3d1a3p-7f, -0x1.015376p-6f, -0x1.10771ep-6f, -0x1.be2438p-7f, -0x1.29ddecp-7f,
     -0x1.4c217ap-8f, -0x1.392ca4p-9f, -0x1.f7367ap-11f, -0x1.5a23b4p-12f, -0x1.990d7cp-14f, -0x1.a0397cp-16f,
     -0x1.6d4ccep-18f, -0x1.14e552p-20f, -0x1.6ae97p-23f, 0},
    {-0x1.c640eep-9f, -0x1.6ded5p-9f, -0x1.32c63cp-10f, 0x1.eabbccp-12f, 0x1.6f310ep-10f, 0x1.8c42b2p-10f,
     0x1.295dbep-10f, 0x1.5bfac8p-11f, 0x1.4b5b1ep-12f, 0x1.063822p-13f, 0x1.5d1886p-15f, 0x1.89f124p-17f,
     0x1.7ac736p-19f, 0x1.3777dcp-21f, 0x1.b7484ep-24f, 0},
    {0x1.518ab8p-17f, 0x1.6e8fc6p-12f, 0x1.ebd52ep-12f, 0x1.66c356p-12f, 0x1.d6038ap-14f, -0x1.09a3b6p-14f,
     -0x1.075b2p-13f, -0x1.c27b8cp-14f, -0x1.0ea2fap-14f, -0x1.f9f8p-16f, -0x1.7f39aep-17f, -0x1.e04eecp-19f,
     -0x1.f84aeap-21f, -0x1.bf25f6p-23f, -0x1.50b74ep-25f, 0},
    {0x1.134858p-14f, 0x1.a36b82p-16f, -0x1.7a4a42p-16f, -0x1.719a48p-15f, -0x1.25235ap-15f, -0x1.bf03bap-17f,
     0x1.7cd17ap-19f, 0x1.15011ap-17f, 0x1.cdf324p-18f, 0x1.025556p-18f, 0x1.b9ac94p-20f, 0x1.2ef5c8p-21f,
     0x1.55b09cp-23f, 0x1.4158fp-25f, 0x1.fca76ap-28f, 0},
};

/// x Phi(x), by a table where V looks up 16 floats at once: half the operations of erf, and no division.
template <class V, class Float = typename V::Float>
inline Float gelu(Float x) {
  if constexpr (V::kLooksUp) {
    const Float u = V::min(V::mul(V::abs(x), V::set(15 / 5.6f)), V::set(15.0f));
    const typename V::Int i = V::truncate(u);
    const Float from_i = V::sub(u, V::to_float(i));
    Float p = V::look_up(kPhi[5], i);
    p = V::fma(p, from_i, V::look_up(kPhi[4], i));
    p = V::fma(p, from_i, V::look_up(kPhi[3], i));
    p = V::fma(p, from_i, V::look_up(kPhi[2], i));
    p = V::fma(p, from_i, V::look_up(kPhi[1], i));
    p = V::fma(p, from_i, V::look_up(kPhi[0], i));
    return V::mul(x, V::add(V::set(0.5f), V::copy_sign(p, x)));
  } else {
    const Float e = erf<V>(V::mul(x, V::set(0.70710678118654752f)));
    return V::mul(V::mul(x, V::set(0.5f)), V::add(V::set(1.0f), e));
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

/// silu, gelu_tanh, quick_gelu, tanh: within 1.4e-7 |x| of the exact value; gelu: 2.4e-7 |x|. NaN stays NaN
/// in all.
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
    case Activation::none:
      return x;
  }
  return x;
}

template <Activation kind>
using ActivationConstant = std::integral_constant<Activation, kind>;

/// run(the activation as a constant): loops choose once, not for each vector.
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
  }
}

}  // namespace
}  // namespace mote
