// SPDX-License-Identifier: Apache-2.0
//
// Operations over pictures.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

// Behind a row in front of each, pictures of 3 x 4 places, and of 2 x 4 with half a line behind.
constexpr uint32_t kSkip = 1, kColumns = 4;
const uint32_t kInStarts[] = {5, 18, 29};  // of the second pass: its first row is the buffers'
const uint32_t kLines[] = {3, 2};

/// A place of picture s, or nothing outside it.
const float* place_of(const GuardedRows& in, size_t s, int64_t y, int64_t x) {
  if (y < 0 || y >= kLines[s] || x < 0 || x >= int64_t{kColumns}) return nullptr;
  return in[kInStarts[s] - kInStarts[0] + kSkip + static_cast<size_t>(y) * kColumns + static_cast<size_t>(x)];
}

}  // namespace

TEST("windows of a picture are its places side by side, and zeros outside it", "[grid_ops]") {
  each_kernel(Op::kGridFrames, [](const KernelEntry& entry) {
    struct Window {
      uint32_t reach, before, step, out_columns;
    };
    for (const Window& window : {Window{1, 0, 1, 4}, Window{3, 1, 1, 4}, Window{3, 1, 2, 2},
                                 Window{2, 0, 2, 2}, Window{3, 0, 1, 2}}) {
      // More rows than windows that fit: the last are of places below the picture.
      const uint32_t of_each = 3 * window.out_columns, starts[] = {2, 2 + of_each, 2 + 2 * of_each};
      constexpr uint32_t kWidth = 3;
      const uint32_t out_width = window.reach * window.reach * kWidth;
      for (const Split split : kSplits) {
        GuardedRows in(24, kWidth, Edge::end), out(2 * of_each, out_width, Edge::end),
            expected(2 * of_each, out_width, Edge::start);
        in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i + 1); });
        out.fill([](size_t, size_t) { return -1.0f; });
        expected.fill([&](size_t t, size_t i) {
          const size_t s = t / of_each, own = t % of_each, tap = i / kWidth;
          const auto at = [&](size_t place, size_t of_window) {
            return static_cast<int64_t>(place * window.step + of_window) - window.before;
          };
          const float* row = place_of(in, s, at(own / window.out_columns, tap / window.reach),
                                      at(own % window.out_columns, tap % window.reach));
          return row == nullptr ? 0.0f : row[i % kWidth];
        });
        run_kernel(entry,
                   GridFramesArgs{kWidth,
                                  kColumns,
                                  window.out_columns,
                                  window.reach,
                                  window.before,
                                  window.step,
                                  kSkip,
                                  {kInStarts, starts, 0},
                                  in_one_lane(in.const_view()),
                                  out.view()},
                   2 * of_each, split);
        check_same_bits(expected, out);
      }
    }
  });
}

TEST("a resized picture keeps its corners and is linear between its places", "[grid_ops]") {
  each_kernel(Op::kGridResize, [](const KernelEntry& entry) {
    // Pictures of 2 x 3 places, whose values are a plane, to 5 x 7; of 1 x 3 to 2 x 7; and one of half a
    // line.
    constexpr uint32_t kWidth = 2, kFrom = 3, kTo = 7;
    const uint32_t in_starts[] = {0, 6, 9, 11}, out_starts[] = {0, 5 * kTo, 7 * kTo, 8 * kTo};
    for (const Split split : kSplits) {
      GuardedRows in(11, kWidth, Edge::end), out(8 * kTo, kWidth, Edge::end);
      in.fill([](size_t t, size_t i) {
        return static_cast<float>(i + 1) * static_cast<float>(8 * (t / kFrom) + 6 * (t % kFrom));
      });
      out.fill([](size_t, size_t) { return -1.0f; });
      run_kernel(
          entry,
          GridResizeArgs{
              kWidth, kFrom, kTo, {in_starts, out_starts, 0}, in_one_lane(in.const_view()), out.view()},
          8 * kTo, split);
      for (uint32_t t = 0; t < 8 * kTo; ++t) {
        const uint32_t y = t / kTo, x = t % kTo;
        for (uint32_t i = 0; i < kWidth; ++i) {
          const float plane = static_cast<float>(y < 5 ? 2 * y : 16) + 2 * static_cast<float>(x);
          const float expected = y < 7 ? static_cast<float>(i + 1) * plane : 0.0f;
          TEST_ASSERT_FLOAT_WITHIN(1e-4f, expected, out[t][i]);
        }
      }
    }
  });
}

}  // namespace mote::testing
