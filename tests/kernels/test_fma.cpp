// SPDX-License-Identifier: Apache-2.0
//
// Where a family has no fused multiply-add, integer matmuls make one: the same bits as fmaf.
#include <float.h>

#include "schema/f16.h"
#include "tests/support/kernel_test.h"

#if defined(__x86_64__)

namespace mote::testing {

void fma_128(const float* a, const float* b, const float* c, float* out);

namespace {

void check_fma(float a, float b, float c) {
  if (!has_all(cpu_features(), kSse41)) return;
  const float as[4] = {a, b, -a, a}, bs[4] = {b, a, b, -b}, cs[4] = {c, c, -c, -c};
  float out[4];
  fma_128(as, bs, cs, out);
  for (int i = 0; i < 4; ++i) {
    const float expected = fmaf(as[i], bs[i], cs[i]);
    if (isnan(expected) && isnan(out[i])) continue;
    INFO(as[i] << " * " << bs[i] << " + " << cs[i]);
    TEST_ASSERT_EQUAL_HEX32(bits_from_f32(expected), bits_from_f32(out[i]));
  }
}

}  // namespace

TEST("a fused multiply-add of doubles rounds sums beside the middle of two floats as fmaf does", "[fma]") {
  // The product is half a unit of c; a little more or less than that in c's own place is lost in a double.
  for (const float little : {0x1p-60f, 0x1p-40f, 0x1p-126f, 0x1p-149f, 0.0f}) {
    for (const float c : {1.0f, 1.0f + 0x1p-23f, 0x1.fffffep0f, 0x1p-126f, 0x1p-100f}) {
      const float half = c * 0x1p-24f;
      check_fma(half, 1.0f + 0x1p-23f, c);
      check_fma(half, 1.0f - 0x1p-24f, c);
      check_fma(c, 1.0f, half);
      check_fma(little, 1.0f + 0x1p-23f, c);
      check_fma(c + c * 0x1p-23f, 1.0f - 0x1p-24f, little);
      check_fma(1.0f + 0x1p-12f, c * (1.0f + 0x1p-12f), little);
      check_fma(1.0f + 0x1p-12f, c * (1.0f - 0x1p-12f), -little);
    }
  }
}

TEST("a fused multiply-add of doubles is that of floats for any floats", "[fma][values]") {
  Random random(3);
  for (int i = 0; i < 200000; ++i) {
    check_fma(f32_from_bits(random.bits()), f32_from_bits(random.bits()), f32_from_bits(random.bits()));
    const float a = random.uniform(-2.0f, 2.0f), b = random.uniform(-2.0f, 2.0f);
    check_fma(a, b, -a * b);  // what rounding the product leaves
    check_fma(a, b, random.uniform(-1.0f, 1.0f) * exp2f(static_cast<float>(random.below(80)) - 40.0f));
  }
  for (const float special : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, 0x1p-149f}) {
    for (const float other : {0.0f, 1.0f, INFINITY, FLT_MAX, 0x1p-149f}) {
      check_fma(special, other, 1.0f);
      check_fma(special, 1.0f, other);
      check_fma(special, other, special);
    }
  }
}

}  // namespace mote::testing

#endif
