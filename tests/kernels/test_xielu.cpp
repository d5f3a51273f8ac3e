// SPDX-License-Identifier: Apache-2.0
//
// Every kernel within 2^-21 of the formula in double precision, relative to the terms that it adds up.
#include "tests/support/kernel_test.h"

namespace mote::testing {

TEST("xielu meets its formula on both sides of 0", "[xielu]") {
  each_kernel(Op::kXielu, [](const KernelEntry& entry) {
    constexpr float kPositive = 0.8f, kNegative = 1.3f, kBeta = 0.5f, kEps = -1e-6f;
    for (uint32_t width = 1; width <= 40; ++width) {
      GuardedRows in(2, width, Edge::end), out(2, width, Edge::end);
      Random random(width);
      in.fill([&](size_t t, size_t) {
        return t == 0 ? random.uniform(-5.0f, 5.0f) : random.uniform(-1e-3f, 0.0f);
      });
      const XieluArgs args{width, kPositive, kNegative, kBeta, kEps, in.const_view(), out.view()};
      run_kernel(entry, args, 2, Split::halves);
      check_within(
          out,
          [&](size_t t, size_t k) {
            const double x = static_cast<double>(in[t][k]), beta = static_cast<double>(kBeta);
            if (x > 0) return static_cast<double>(kPositive) * x * x + beta * x;
            return (expm1(fmin(x, static_cast<double>(kEps))) - x) * static_cast<double>(kNegative) +
                   beta * x;
          },
          [&](size_t t, size_t k) {
            const double x = fabs(static_cast<double>(in[t][k]));
            return (x * x + 4 * x) * 0x1p-21;
          });
    }
  });
}

}  // namespace mote::testing
