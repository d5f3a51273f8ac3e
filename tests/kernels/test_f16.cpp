// SPDX-License-Identifier: Apache-2.0
//
// Half precision against its definition and, where the compiler has a half type, against the compiler's.
#include "schema/f16.h"

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

/// The definition (IEEE 754-2019, 3.4) in double precision; no NaN.
double exact_half(uint32_t half) {
  const double sign = half & 0x8000u ? -1.0 : 1.0;
  const int exponent = static_cast<int>(half >> 10 & 31u);
  const double fraction = (half & 0x3FFu) / 1024.0;
  if (exponent == 31) return sign * static_cast<double>(INFINITY);
  return sign * (exponent == 0 ? ldexp(fraction, -14) : ldexp(1.0 + fraction, exponent - 15));
}

bool is_nan_half(uint32_t half) { return (half & 0x7FFFu) > 0x7C00u; }

/// The halves around a finite value are compared in double precision, in which they and their differences are
/// exact.
void check_nearest(float value) {
  const uint16_t half = f16_from_f32(value);
  const double x = fabs(static_cast<double>(value));
  const uint32_t magnitude = half & 0x7FFFu;
  CAPTURE(value, half);
  TEST_ASSERT_EQUAL_UINT32(bits_from_f32(value) >> 31, half >> 15);
  if (magnitude == 0x7C00u) {
    TEST_ASSERT_TRUE(x >= 65520.0);
    return;
  }
  const double distance = fabs(exact_half(magnitude) - x);
  const double above = magnitude == 0x7BFFu ? 65536.0 : exact_half(magnitude + 1);
  const double to_above = fabs(above - x);
  const double to_below = magnitude == 0 ? INFINITY : fabs(exact_half(magnitude - 1) - x);
  const bool nearest = distance < to_above && distance < to_below;
  const bool tie = distance <= to_above && distance <= to_below;
  TEST_ASSERT_TRUE(nearest || (tie && magnitude % 2 == 0));
}

}  // namespace

TEST("every half converts exactly and back", "[f16]") {
  for (uint32_t half = 0; half < 65536; ++half) {
    const float value = f32_from_f16(static_cast<uint16_t>(half));
    const uint16_t back = f16_from_f32(value);
    bool right;
    if (is_nan_half(half)) {
      right = isnan(value) && back == (half | 0x200u) && (bits_from_f32(value) & 0x400000u) != 0;
    } else {
      right = static_cast<double>(value) == exact_half(half) && back == half;
    }
    if (!right) TEST_FAIL_MESSAGE("half " << half << " is " << value << " and comes back as " << back);
  }
}

TEST("floats round to the nearest half, ties to even, at and around every half and every midpoint",
     "[f16][values]") {
  for (uint32_t half = 0; half < 0x7C00; ++half) {
    const double next = half == 0x7BFF ? 65536.0 : exact_half(half + 1);
    const float middle = static_cast<float>((exact_half(half) + next) / 2);
    for (const float value : {static_cast<float>(exact_half(half)), middle}) {
      for (const float sign : {1.0f, -1.0f}) {
        check_nearest(sign * value);
        check_nearest(sign * nextafterf(value, 0.0f));
        check_nearest(sign * nextafterf(value, INFINITY));
      }
    }
  }
}

TEST("floats beyond the largest half become infinite, below the least one zero", "[f16]") {
  TEST_ASSERT_EQUAL_HEX32(0x7BFF, f16_from_f32(nextafterf(65520.0f, 0.0f)));
  TEST_ASSERT_EQUAL_HEX32(0x7C00, f16_from_f32(65520.0f));
  TEST_ASSERT_EQUAL_HEX32(0xFC00, f16_from_f32(-3.4e38f));
  TEST_ASSERT_EQUAL_HEX32(0x7C00, f16_from_f32(INFINITY));
  TEST_ASSERT_EQUAL_HEX32(0x0000, f16_from_f32(0x1p-25f));
  TEST_ASSERT_EQUAL_HEX32(0x8001, f16_from_f32(nextafterf(-0x1p-25f, -1.0f)));
  TEST_ASSERT_EQUAL_HEX32(0x8000, f16_from_f32(-1e-45f));
}

#if defined(__FLT16_MANT_DIG__) && defined(__SSE2__)
TEST("conversions equal the compiler's half type", "[f16]") {
  Random random(1);
  for (uint32_t i = 0; i < 4000000; ++i) {
    // Every sign and exponent, with many mantissas.
    const uint32_t bits = (i & 511u) << 23 | (random.bits() & 0x7FFFFFu);
    const float value = f32_from_bits(bits);
    const _Float16 expected = static_cast<_Float16>(value);
    uint16_t expected_bits;
    memcpy(&expected_bits, &expected, 2);
    const uint16_t half = f16_from_f32(value);
    const bool both_nan = isnan(value) && is_nan_half(half) && is_nan_half(expected_bits);
    if (half != expected_bits && !both_nan)
      TEST_FAIL_MESSAGE(value << " gives " << half << ", not " << expected_bits);
  }
}
#endif

}  // namespace mote::testing
