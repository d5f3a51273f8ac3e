// SPDX-License-Identifier: Apache-2.0
//
// An exponential for attention's weights where they are rounded to bf16 or bytes, over the vectors V
// (floats.h).
#pragma once

namespace mote {
namespace {

constexpr float kRoughPerLn2 = 0x1.715476p+0f;

/// exp(x - m) within 1.02e-4, for x <= m; rough_shift gave the shift for m. NaN stays NaN.
///
/// 2^t = 2^f 2^n, n the nearest integer to t = (x - m) / ln 2 and f from -1/2 to 1/2; 2^f - 1 is a cubic
/// polynomial. The result is at least 2^-126, which rounds to the byte 0. exp(0) is 1.
template <class V>
inline typename V::Float rough_exp(typename V::Float x, typename V::Float shift) {
  using Float = typename V::Float;
  const Float t = V::max(V::set(-126.0f), V::fma(x, V::set(kRoughPerLn2), shift));
  const auto n = V::to_int(t);
  const Float f = V::sub(t, V::to_float(n));
  Float p = V::set(0x1.c2a218p-5f);
  p = V::fma(p, f, V::set(0x1.f00c4ep-3f));
  p = V::fma(p, f, V::set(0x1.62f5fap-1f));
  p = V::fma(p, f, V::set(1.0f));
  return V::add_to_exponent(p, n);
}
template <class V>
inline typename V::Float rough_shift(float largest) {
  return V::set(-kRoughPerLn2 * largest);
}

}  // namespace
}  // namespace mote
