// SPDX-License-Identifier: Apache-2.0
//
// An exponential for attention's weights where they are rounded to bf16 or bytes, in vectors of 512 bits.
#pragma once

#include "kernels/x86/floats_512.inl.h"

namespace mote {
namespace {

struct RoughExp512 : Floats512 {
  /// exp(x - m) within 9e-5, for x <= m; shift_of gave the shift for m. That is a 22nd of the rounding to
  /// bf16. exp(0) rounds to 1, as bf16 and as a byte. NaN stays NaN.
  ///
  /// 2^t = 2^f 2^floor(t), f the fraction of t = (x - m) / ln 2; 2^f - 1 is a cubic polynomial fitted to [0,
  /// 1).
  static Float rough_exp(Float x, Float shift) {
    constexpr int kFraction = 1 | 8;  // less floor(t), without exceptions
    const Float t = fma(x, set(kPerLn2), shift);
    const Float f = _mm512_reduce_ps(t, kFraction);
    Float p = set(0x1.3baaa8p-4f);
    p = fma(p, f, set(0x1.d23788p-3f));
    p = fma(p, f, set(0x1.63e658p-1f));
    p = fma(p, f, set(1.0f));
    return _mm512_scalef_ps(p, t);
  }
  static Float shift_of(float largest) { return set(-kPerLn2 * largest); }

 private:
  static constexpr float kPerLn2 = 0x1.715476p+0f;
};

}  // namespace
}  // namespace mote
