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
                                  {},
                                  window.out_columns,
                                  window.reach,
                                  window.before,
                                  window.step,
                                  kSkip,
                                  {kInStarts, starts, 0, nullptr},
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
      run_kernel(entry,
                 GridResizeArgs{kWidth,
                                kFrom,
                                kTo,
                                {},
                                {},
                                {in_starts, out_starts, 0, nullptr},
                                in_one_lane(in.const_view()),
                                out.view()},
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

TEST("pictures of any size have the windows and the resize that each has alone", "[grid_ops]") {
  // Patches of 2 x 3 and 3 x 1 pictures; in has 2 x 2 places for each, and so has the resize every second
  // patch. Both streams have rows to spare.
  const GridSize grids[] = {{2, 3}, {3, 1}};
  constexpr uint32_t kWidth = 2;
  const uint32_t in_starts[] = {0, 26, 40}, out_starts[] = {0, 10, 16};
  GuardedRows in(40, kWidth, Edge::end);
  in.fill([](size_t t, size_t i) { return static_cast<float>((t * 7 + i * 3) % 11); });
  each_kernel(Op::kGridFrames, [&](const KernelEntry& entry) {
    GuardedRows out(16, 9 * kWidth, Edge::end), alone(16, 9 * kWidth, Edge::end);
    GridFramesArgs args{kWidth,
                        99,
                        {2, 1},
                        99,
                        3,
                        1,
                        2,
                        0,
                        {in_starts, out_starts, 0, grids},
                        in_one_lane(in.const_view()),
                        out.view()};
    run_kernel(entry, args, 16, kSplits[0]);
    for (const uint32_t s : {0u, 1u}) {
      const uint32_t begin[] = {0, 2 * grids[s].lines * 2 * grids[s].columns},
                     count[] = {0, out_starts[s + 1] - out_starts[s]};
      ConstRows own = in.const_view();
      own.data = own[in_starts[s]];
      Rows to = alone.view();
      to.data = to[out_starts[s]];
      const GridFramesArgs same{kWidth,
                                2 * grids[s].columns,
                                {},
                                grids[s].columns,
                                3,
                                1,
                                2,
                                0,
                                {begin, count, 0, nullptr},
                                in_one_lane(own),
                                to};
      run_kernel(entry, same, count[1], kSplits[0]);
    }
    check_same_bits(alone, out);
  });
  each_kernel(Op::kGridResize, [&](const KernelEntry& entry) {
    GuardedRows out(16, kWidth, Edge::end), alone(16, kWidth, Edge::end);
    const GridResizeArgs args{
        kWidth,    99, 99, {2, 1}, {1, 2}, {in_starts, out_starts, 0, grids}, in_one_lane(in.const_view()),
        out.view()};
    run_kernel(entry, args, 16, kSplits[0]);
    for (const uint32_t s : {0u, 1u}) {
      const uint32_t columns = (grids[s].columns + 1) / 2, places = (grids[s].lines + 1) / 2 * columns;
      const uint32_t begin[] = {0, 2 * grids[s].lines * 2 * grids[s].columns}, count[] = {0, places};
      ConstRows own = in.const_view();
      own.data = own[in_starts[s]];
      Rows to = alone.view();
      to.data = to[out_starts[s]];
      const GridResizeArgs same{kWidth, 2 * grids[s].columns,       columns,          {},
                                {},     {begin, count, 0, nullptr}, in_one_lane(own), to};
      run_kernel(entry, same, places, kSplits[0]);
      for (uint32_t t = out_starts[s] + places; t < out_starts[s + 1]; ++t)
        for (uint32_t i = 0; i < kWidth; ++i) alone[t][i] = 0.0f;
    }
    check_same_bits(alone, out);
  });
}

TEST("positions of a picture are a cubic of the stored ones, and learned rows keep theirs", "[grid_ops]") {
  each_kernel(Op::kGridPositions, [](const KernelEntry& entry) {
    // A stored plane of 3 x 4 places between one learned row and two; pictures of 3 x 4 and of 6 x 8 patches.
    constexpr uint32_t kWidth = 3, kBefore = 1, kAfter = 2;
    const GridSize stored{3, 4}, grids[] = {{3, 4}, {6, 8}};
    const uint32_t starts[] = {0, 15, 66};
    GuardedRows table(15, kWidth, Edge::end);
    const auto plane = [](float y, float x, size_t i) { return static_cast<float>(i + 1) * (8 * y + 2 * x); };
    table.fill([&](size_t t, size_t i) {
      if (t < kBefore || t >= 13) return 100.0f + static_cast<float>(t);
      return plane(static_cast<float>((t - 1) / 4), static_cast<float>((t - 1) % 4), i);
    });
    std::vector<float> packed;
    for (size_t t = 0; t < 15; ++t) packed.insert(packed.end(), table[t], table[t] + kWidth);
    for (const Split split : kSplits) {
      GuardedRows x(66, kWidth, Edge::end);
      x.fill([](size_t, size_t) { return 1.0f; });
      run_kernel(entry,
                 GridPositionsArgs{
                     packed.data(), kWidth, stored, kBefore, kAfter, {starts, starts, 0, grids}, x.view()},
                 66, split);
      for (uint32_t t = 0; t < 15; ++t) {  // the stored grid itself
        for (uint32_t i = 0; i < kWidth; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-4f, 1 + table[t][i], x[t][i]);
      }
      TEST_ASSERT_EQUAL_FLOAT(101.0f, x[15][0]);
      TEST_ASSERT_EQUAL_FLOAT(114.0f, x[64][1]);
      TEST_ASSERT_EQUAL_FLOAT(115.0f, x[65][2]);
      // Cubic convolution of a plane: line 2 lies at 0.75 between lines 0, 0, 1 and 2, as outside is the
      // nearest inside; columns 3 and 4 lie at 1.25 and 1.75 between columns 0 to 3.
      const auto near = [](float d) { return ((-0.75f + 2) * d - (-0.75f + 3)) * d * d + 1; };
      const auto far = [](float d) { return ((-0.75f * d + 3.75f) * d - 6.0f) * d + 3.0f; };
      const float y = near(0.25f) * 1 + far(1.25f) * 2;
      const float across[] = {near(0.25f) * 1 + near(0.75f) * 2 + far(1.75f) * 3,
                              near(0.75f) * 1 + near(0.25f) * 2 + far(1.25f) * 3};
      for (const uint32_t column : {3u, 4u})
        TEST_ASSERT_FLOAT_WITHIN(1e-4f, 1 + plane(y, across[column - 3], 0), x[15 + 1 + 2 * 8 + column][0]);
    }
  });
}

TEST("places of windows are gathered from lines, shifted and filled up with zeros, and back",
     "[grid_gather]") {
  each_kernel(Op::kGridGather, [](const KernelEntry& entry) {
    // Behind the rows of another pass, pictures of 5 x 7 patches, 2 x 9 and 3 x 3, in windows of 3 x 3:
    // filled up they are 6 x 9, 3 x 9 and 3 x 3, of which the first alone has several in both directions.
    constexpr uint32_t kWidth = 2, kWindow = 3, kShift = 1;
    const GridSize grids[] = {{4, 4}, {5, 7}, {2, 9}, {3, 3}};
    const uint32_t lines[] = {0, 6, 3, 3}, columns[] = {0, 9, 9, 3};
    const uint32_t patch_starts[] = {0, 16, 51, 69, 78}, window_starts[] = {0, 36, 90, 117, 126};
    const auto picture_of = [](const uint32_t* starts, size_t t) {
      uint32_t s = 1;
      while (starts[s + 1] - starts[1] <= t) ++s;
      return s;
    };
    const GridOrder of_lines{{1, 1}, 1, 0}, of_windows{{kWindow, kWindow}, kWindow, kShift};
    const auto value = [](size_t t, size_t i) { return static_cast<float>(t * 10 + i + 1); };
    for (const Split split : kSplits) {
      GuardedRows patches(62, kWidth, Edge::end), windows(90, kWidth, Edge::end), back(62, kWidth, Edge::end),
          expected(90, kWidth, Edge::start);
      patches.fill(value);
      windows.fill([](size_t, size_t) { return -1.0f; });
      back.fill([](size_t, size_t) { return -1.0f; });
      expected.fill([&](size_t t, size_t i) {
        const uint32_t s = picture_of(window_starts, t),
                       own = static_cast<uint32_t>(t) - (window_starts[s] - 36);
        const uint32_t shift = s == 1 ? kShift : 0, across = columns[s] / kWindow;
        const uint32_t y = (own / 9 / across * kWindow + own % 9 / kWindow + shift) % lines[s];
        const uint32_t x = (own / 9 % across * kWindow + own % kWindow + shift) % columns[s];
        if (y >= grids[s].lines || x >= grids[s].columns) return 0.0f;
        return value(patch_starts[s] - 16 + y * grids[s].columns + x, i);
      });
      run_kernel(entry,
                 GridGatherArgs{kWidth,
                                1,
                                of_lines,
                                of_windows,
                                0,
                                {patch_starts, window_starts, 1, grids},
                                in_one_lane(patches.const_view()),
                                windows.view()},
                 90, split);
      check_same_bits(expected, windows);
      run_kernel(entry,
                 GridGatherArgs{kWidth,
                                1,
                                of_windows,
                                of_lines,
                                0,
                                {window_starts, patch_starts, 1, grids},
                                in_one_lane(windows.const_view()),
                                back.view()},
                 62, split);
      check_same_bits(patches, back);
    }
  });
}

TEST("fours of places are side by side column by column, zeros where a side is odd", "[grid_gather]") {
  each_kernel(Op::kGridGather, [](const KernelEntry& entry) {
    // Behind a row in front of it, a picture of 3 x 5 places, which becomes 2 x 3.
    constexpr uint32_t kWidth = 3;
    const GridSize grid[] = {{3, 5}};
    const uint32_t in_starts[] = {0, 16}, out_starts[] = {0, 6};
    for (const Split split : kSplits) {
      GuardedRows in(16, kWidth, Edge::end), out(6, 4 * kWidth, Edge::end),
          expected(6, 4 * kWidth, Edge::start);
      in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i + 1); });
      out.fill([](size_t, size_t) { return -1.0f; });
      expected.fill([&](size_t t, size_t i) {
        const size_t tap = i / kWidth, y = t / 3 * 2 + tap % 2, x = t % 3 * 2 + tap / 2;
        return y < 3 && x < 5 ? in[1 + y * 5 + x][i % kWidth] : 0.0f;
      });
      run_kernel(entry,
                 GridGatherArgs{kWidth,
                                2,
                                {{1, 1}, 1, 0},
                                {{1, 2}, 1, 0},
                                1,
                                {in_starts, out_starts, 0, grid},
                                in_one_lane(in.const_view()),
                                out.view()},
                 6, split);
      check_same_bits(expected, out);
    }
  });
}

TEST("windows know the ends of the picture that they lie at, where there are several in each direction",
     "[grid_gather]") {
  const GridSize several{6, 9};
  const uint32_t expected[] = {0, 0, 1, 2, 2, 3};
  for (uint32_t i = 0; i < 6; ++i) CHECK(edges_of_window(several, 3, i) == expected[i]);
  for (uint32_t i = 0; i < 3; ++i) {
    CHECK(edges_of_window({3, 9}, 3, i) == 0);
    CHECK(edges_of_window({9, 3}, 3, i) == 0);
  }
}

}  // namespace mote::testing
