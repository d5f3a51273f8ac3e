// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_test.h"

namespace mote::testing {

TEST("dropped tokens' rows are 0, and the sequence's others grow by their share", "[token_dropout]") {
  each_kernel(Op::kTokenDropout, [](const KernelEntry& entry) {
    const int32_t ids[] = {4, 9, 5, 9, 9, 6, 7}, positions[] = {0, 1, 2, 3, 0, 1, 2},
                  last_seen[] = {3, 3, 3, 3, 2, 2, 2};
    for (const Split split : kSplits) {
      GuardedRows x(7, 3, Edge::end), expected(7, 3, Edge::start);
      x.fill([](size_t t, size_t i) { return static_cast<float>(t * 3 + i) + 1.0f; });
      expected.fill([&](size_t t, size_t i) {
        const float left = t < 4 ? 1.0f - 2.0f / 4.0f : 1.0f - 1.0f / 3.0f;
        return (ids[t] == 9 ? 0.0f : x[t][i]) * 0.88f / left;
      });
      run_kernel(entry, TokenDropoutArgs{3, 0.88f, 9, ids, positions, last_seen, x.view()}, 7, split);
      check_same_bits(expected, x);
    }
  });
}

}  // namespace mote::testing
