// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_test.h"

namespace mote::testing {

TEST("stacked rows lie side by side bit by bit, and zeros fill the last group", "[stack_rows]") {
  each_kernel(Op::kStackRows, [](const KernelEntry& entry) {
    constexpr uint32_t kRatio = 3, kGroups = 4;
    const uint32_t firsts[kGroups + 1] = {0, 3, 5, 8, 9};  // sequences of 5 and 4 rows
    for (uint32_t width = 1; width <= 20; ++width) {
      for (const Split split : kSplits) {
        GuardedRows in(9, width, Edge::end), out(kGroups, kRatio * width, Edge::end),
            expected(kGroups, kRatio * width, Edge::start);
        in.fill([&](size_t t, size_t i) { return i == 2 ? NAN : static_cast<float>(t * 100 + i + 1); });
        out.fill([](size_t, size_t) { return -1.0f; });
        expected.fill([&](size_t t, size_t i) {
          const size_t row = firsts[t] + i / width;
          return row < firsts[t + 1] ? in[row][i % width] : 0.0f;
        });
        run_kernel(entry, StackRowsArgs{width, kRatio, firsts, in_one_lane(in.const_view()), out.view()},
                   kGroups, split);
        check_same_bits(expected, out);
      }
    }
  });
}

TEST("stacked rows of no groups are none", "[stack_rows]") {
  each_kernel(Op::kStackRows, [](const KernelEntry& entry) {
    const uint32_t firsts[] = {0};
    run_kernel(entry, StackRowsArgs{8, 2, firsts, in_one_lane({nullptr, 64}), {nullptr, 64}}, 0);
  });
}

}  // namespace mote::testing
