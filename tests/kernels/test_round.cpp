// SPDX-License-Identifier: Apache-2.0
//
// Every kernel equals its formula to the bit.
#include <math.h>

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

/// The E4M3 number of a code without its sign.
float e4m3_of(uint32_t code) {
  const uint32_t exponent = code >> 3, mantissa = code & 7u;
  return exponent == 0 ? ldexpf(static_cast<float>(mantissa), -9)
                       : ldexpf(static_cast<float>(8 + mantissa), static_cast<int>(exponent) - 10);
}

/// The nearest of all E4M3 numbers; of two as near the one with an even code.
float nearest_of_all(float x) {
  const float size = fabsf(x);
  uint32_t best = 0;
  for (uint32_t code = 1; code <= 0x7E; ++code) {
    const double now = fabs(static_cast<double>(e4m3_of(code)) - static_cast<double>(size));
    const double before = fabs(static_cast<double>(e4m3_of(best)) - static_cast<double>(size));
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return copysignf(e4m3_of(best), x);
}

void check(const KernelEntry& entry, const RoundArgs& rounding, const std::vector<float>& values,
           const std::vector<float>& wanted) {
  const auto width = static_cast<uint32_t>(values.size());
  GuardedRows in(2, width, Edge::end), out(2, width, Edge::end);
  in.fill([&](size_t, size_t k) { return values[k]; });
  RoundArgs args = rounding;
  args.width = width;
  args.in = in.const_view();
  args.out = out.view();
  run_kernel(entry, args, 2, Split::ones_backwards);
  for (size_t t = 0; t < 2; ++t) {
    for (size_t k = 0; k < width; ++k) {
      CAPTURE(k, values[k], out[t][k], wanted[k]);
      TEST_ASSERT_TRUE(out[t][k] == wanted[k] || (isnan(out[t][k]) && isnan(wanted[k])));
    }
  }
}

}  // namespace

TEST("numbers, halves between them and what lies beside those become the nearest of E4M3", "[round]") {
  std::vector<float> values = {NAN, INFINITY, -INFINITY, 449.0f, 1e30f};
  std::vector<float> wanted = {NAN, 448.0f, -448.0f, 448.0f, 448.0f};
  for (uint32_t code = 0; code < 0x7E; ++code) {
    const float half = 0.5f * (e4m3_of(code) + e4m3_of(code + 1));
    for (const float x : {e4m3_of(code), half, nextafterf(half, 0.0f), nextafterf(half, 500.0f)}) {
      for (const float signed_x : {x, -x}) {
        values.push_back(signed_x);
        wanted.push_back(nearest_of_all(signed_x));
      }
    }
  }
  each_kernel(Op::kRound, [&](const KernelEntry& entry) {
    check(entry, {0, Rounding::e4m3, 1.0f, -448.0f, 448.0f, {}, {}}, values, wanted);
    std::vector<float> larger = values, products = wanted;
    for (float& x : larger) x *= 0.25f;
    for (float& x : products) x *= 0.25f;
    check(entry, {0, Rounding::e4m3, 0.25f, -448.0f, 448.0f, {}, {}}, larger, products);
  });
}

TEST("rows become integers of a unit between two ends, halves the even ones", "[round]") {
  const std::vector<float> values = {NAN,  0.25f,  0.75f, -0.25f, 1.0f,  1.3f,   -64.0f,
                                     1e9f, -63.0f, 61.0f, 61.3f,  61.5f, -62.75f};
  const std::vector<float> wanted = {NAN,   0.0f,   1.0f,  0.0f,  1.0f,  1.5f,  -62.5f,
                                     62.5f, -62.5f, 61.0f, 61.5f, 61.5f, -62.5f};
  each_kernel(Op::kRound, [&](const KernelEntry& entry) {
    check(entry, {0, Rounding::integer, 0.5f, -125.0f, 125.0f, {}, {}}, values, wanted);
  });
}

}  // namespace mote::testing
