// SPDX-License-Identifier: Apache-2.0
//
// Every kernel equals its formula to the bit.
#include "tests/support/kernel_test.h"

namespace mote::testing {

TEST("clamped rows keep what lies between the ends, and NaN", "[clamp]") {
  each_kernel(Op::kClamp, [](const KernelEntry& entry) {
    for (uint32_t width = 1; width <= 40; ++width) {
      GuardedRows in(3, width, Edge::end), out(3, width, Edge::end), expected(3, width, Edge::start);
      Random random(width);
      in.fill([&](size_t t, size_t k) { return t == 1 && k % 7 == 3 ? NAN : random.uniform(-3.0f, 3.0f); });
      expected.fill([&](size_t t, size_t k) {
        const float x = in[t][k];
        return isnan(x) ? x : fminf(fmaxf(x, -1.25f), 2.0f);
      });
      const ClampArgs args{width, -1.25f, 2.0f, in.const_view(), out.view()};
      run_kernel(entry, args, 3, Split::ones_backwards);
      check_same_bits(expected, out);
      run_kernel(entry, ClampArgs{width, -1.25f, 2.0f, in.const_view(), in.view()}, 3);
      check_same_bits(expected, in);
    }
  });
}

}  // namespace mote::testing
