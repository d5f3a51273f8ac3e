// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_test.h"

namespace mote::testing {

TEST("select copies the wanted rows bit by bit, at every width", "[select]") {
  each_kernel(Op::kSelect, [](const KernelEntry& entry) {
    for (uint32_t width = 1; width <= 40; ++width) {
      for (const Split split : kSplits) {
        const uint32_t selected[] = {6, 0, 3, 3};
        GuardedRows in(7, width, Edge::end), out(4, width, Edge::end), expected(4, width, Edge::start);
        in.fill([&](size_t t, size_t i) { return i == 2 ? NAN : static_cast<float>(t * 100 + i); });
        expected.fill([&](size_t t, size_t i) { return in[selected[t]][i]; });
        run_kernel(entry, SelectArgs{width, selected, in_one_lane(in.const_view()), out.view(), 0, 7}, 4,
                   split);
        check_same_bits(expected, out);
      }
    }
  });
}

TEST("select leaves rows alone that others hold", "[select]") {
  each_kernel(Op::kSelect, [](const KernelEntry& entry) {
    constexpr uint32_t kFirst = 4, kRows = 3;
    const uint32_t selected[] = {6, 0, 3, 4, 7};
    GuardedRows in(kRows, 5, Edge::end), out(5, 5, Edge::end), expected(5, 5, Edge::start);
    in.fill([](size_t t, size_t i) { return static_cast<float>(t * 100 + i); });
    out.fill([](size_t, size_t) { return -1.0f; });
    expected.fill([&](size_t t, size_t i) {
      return selected[t] == 6 || selected[t] == 4 ? in[selected[t] - kFirst][i] : -1.0f;
    });
    run_kernel(entry, SelectArgs{5, selected, in_one_lane(in.const_view()), out.view(), kFirst, kRows}, 5);
    check_same_bits(expected, out);
  });
}

TEST("select of no rows does nothing", "[select]") {
  each_kernel(Op::kSelect, [](const KernelEntry& entry) {
    run_kernel(entry, SelectArgs{8, nullptr, in_one_lane({nullptr, 64}), {nullptr, 64}, 0, 0}, 0);
  });
}

}  // namespace mote::testing
