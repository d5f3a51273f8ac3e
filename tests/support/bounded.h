// SPDX-License-Identifier: Apache-2.0
//
// A double with a bound of how far the same arithmetic in f32 may be from it: each operation adds what its
// own rounding and the errors of its operands make (running error analysis, Wilkinson 1963).
#pragma once

#include <math.h>

namespace mote::testing {

inline constexpr double kRounding = 0x1p-24;

struct Bounded {
  double value = 0;
  double error = 0;

  Bounded() = default;
  Bounded(double exact) : value(exact) {}
  Bounded(double of, double bound) : value(of), error(bound) {}

  /// With the rounding of a result; `units` where a function is less exact.
  static Bounded rounded(double value, double error, double units = 1) {
    return {value, error + units * kRounding * (fabs(value) + error)};
  }
};

inline Bounded operator+(const Bounded& a, const Bounded& b) {
  return Bounded::rounded(a.value + b.value, a.error + b.error);
}
inline Bounded operator-(const Bounded& a, const Bounded& b) { return a + Bounded(-b.value, b.error); }
inline Bounded operator*(const Bounded& a, const Bounded& b) {
  return Bounded::rounded(a.value * b.value,
                          fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error);
}
/// b is far from 0.
inline Bounded operator/(const Bounded& a, const Bounded& b) {
  const double value = a.value / b.value;
  return Bounded::rounded(value, (a.error + fabs(value) * b.error) / (fabs(b.value) - b.error));
}
/// The C library's functions are within a unit in the last place, two roundings.
inline Bounded exponential(const Bounded& x) {
  return Bounded::rounded(exp(x.value), exp(x.value) * expm1(x.error), 2);
}
/// x is positive.
inline Bounded log_of_1_plus(const Bounded& x) { return Bounded::rounded(log1p(x.value), x.error, 2); }
inline Bounded square_root(const Bounded& x) {
  return Bounded::rounded(sqrt(x.value), x.error / sqrt(x.value));
}
inline Bounded softplus(const Bounded& x) { return x.value > 20 ? x : log_of_1_plus(exponential(x)); }

}  // namespace mote::testing
