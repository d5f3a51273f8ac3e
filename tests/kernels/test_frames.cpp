// SPDX-License-Identifier: Apache-2.0
//
// Frames copy: every family gives the same bits.
#include "tests/support/kernel_test.h"

namespace mote::test {

TEST("frames put neighbouring rows side by side, and zeros where a sequence has none", "[frames]") {
  constexpr uint32_t kWidth = 3, kTaps = 4, kBefore = 2;
  const int32_t positions[] = {0, 1, 2, 0, 0, 1}, last_seen[] = {2, 2, 2, 0, 1, 1};
  each_kernel(Op::kFrames, [&](const KernelEntry& entry) {
    GuardedRows in(6, kWidth, Edge::end), out(6, kTaps * kWidth, Edge::end);
    in.fill([](size_t t, size_t i) { return static_cast<float>(10 * (t + 1) + i); });
    const FramesArgs args = {
        kWidth, {kTaps, kBefore, 1, nullptr, positions, last_seen}, in_one_lane(in.const_view()), out.view()};
    run_kernel(entry, args, 6, Split::halves, 0);
    for (int32_t t = 0; t < 6; ++t) {
      for (int32_t tap = 0; tap < static_cast<int32_t>(kTaps); ++tap) {
        const int32_t position = positions[t] + tap - static_cast<int32_t>(kBefore),
                      row = t - positions[t] + position;
        const bool inside = position >= 0 && position <= last_seen[t];
        for (uint32_t i = 0; i < kWidth; ++i) {
          const float expected = inside ? static_cast<float>(10 * (row + 1)) + static_cast<float>(i) : 0.0f;
          TEST_ASSERT_TRUE(out[static_cast<size_t>(t)][static_cast<uint32_t>(tap) * kWidth + i] == expected);
        }
      }
    }
  });
}

}  // namespace mote::test
