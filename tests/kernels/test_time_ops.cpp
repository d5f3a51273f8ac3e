// SPDX-License-Identifier: Apache-2.0
//
// Operations over neighbouring rows of a sequence.
#include <cmath>

#include "tests/support/kernel_test.h"

namespace mote::test {
namespace {

// Sequences of 5 and 4 rows; groups of 2 of their rows, of which the last of the first is of 1.
const int32_t kLast[] = {4, 4, 4, 4, 4, 3, 3, 3, 3};
const uint32_t kFirsts[] = {0, 2, 4, 5, 7, 9};
const int32_t kGroupPositions[] = {0, 1, 2, 0, 1};
constexpr uint32_t kGroups = 5, kRows = 9;

/// Row t of a group's window, or nothing outside its sequence.
const float* window_row(const GuardedRows& in, uint32_t group, int before, uint32_t tap) {
  const int begin = group < 3 ? 0 : 5, end = group < 3 ? 5 : 9;
  const int row = static_cast<int>(kFirsts[group]) - before + static_cast<int>(tap);
  return row < begin || row >= end ? nullptr : in[static_cast<size_t>(row)];
}

TimeWindow window_of(uint32_t taps, uint32_t before) {
  return {taps, before, 2, kFirsts, kGroupPositions, kLast};
}

}  // namespace

TEST("frames are a window's rows side by side, and zeros outside the sequence", "[frames]") {
  each_kernel(Op::kFrames, [](const KernelEntry& entry) {
    for (const uint32_t taps : {1u, 3u, 4u}) {
      for (uint32_t before = 0; before < taps; ++before) {
        for (const Split split : kSplits) {
          constexpr uint32_t kWidth = 3;
          GuardedRows in(kRows, kWidth, Edge::end), out(kGroups, taps * kWidth, Edge::end),
              expected(kGroups, taps * kWidth, Edge::start);
          in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i + 1); });
          out.fill([](size_t, size_t) { return -1.0f; });
          expected.fill([&](size_t t, size_t i) {
            const float* row = window_row(in, static_cast<uint32_t>(t), static_cast<int>(before),
                                          static_cast<uint32_t>(i) / kWidth);
            return row == nullptr ? 0.0f : row[i % kWidth];
          });
          run_kernel(entry,
                     FramesArgs{kWidth, window_of(taps, before), in_one_lane(in.const_view()), out.view()},
                     kGroups, split);
          check_same_bits(expected, out);
        }
      }
    }
  });
}

TEST("gathered rows are those of the own sequence that the table has, and zeros where there are none",
     "[gather_rows]") {
  each_kernel(Op::kGatherRows, [](const KernelEntry& entry) {
    constexpr uint32_t kWidth = 3, kTaps = 2, kTableRows = 2;
    // Of the sequences' first groups and second ones; a number may be none of a row of this sequence, or of
    // any.
    const float table[] = {3, 4, 0, std::nanf("")};
    for (const Split split : kSplits) {
      GuardedRows in(kRows, kWidth, Edge::end), out(kGroups, kTaps * kWidth, Edge::end),
          expected(kGroups, kTaps * kWidth, Edge::start);
      in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i + 1); });
      out.fill([](size_t, size_t) { return -1.0f; });
      expected.fill([&](size_t t, size_t i) {
        const auto position = static_cast<uint32_t>(kGroupPositions[t]);
        const uint32_t begin = t < 3 ? 0 : 5, rows = t < 3 ? 5 : 4;
        if (position >= kTableRows) return 0.0f;
        const float number = table[position * kTaps + i / kWidth];
        if (!(number < static_cast<float>(rows))) return 0.0f;
        return in[begin + static_cast<uint32_t>(number)][i % kWidth];
      });
      run_kernel(entry,
                 GatherRowsArgs{kWidth, table, kTableRows, window_of(kTaps, 0), in_one_lane(in.const_view()),
                                out.view()},
                 kGroups, split);
      check_same_bits(expected, out);
    }
  });
}

TEST("a depthwise convolution sums a channel's own values over rows and places", "[depthwise_conv]") {
  each_kernel(Op::kDepthwiseConv, [](const KernelEntry& entry) {
    constexpr uint32_t kChannels = 2, kPlaces = 5, kOut = 3, kTaps = 3, kReach = 3;
    float weight[kTaps * kReach * kChannels];
    for (uint32_t i = 0; i < kTaps * kReach * kChannels; ++i) weight[i] = static_cast<float>(i) - 7.0f;
    const float bias[] = {0.5f, -100.0f};
    GuardedRows in(kRows, kPlaces * kChannels, Edge::end), out(kGroups, kOut * kChannels, Edge::end),
        expected(kGroups, kOut * kChannels, Edge::start);
    in.fill([](size_t t, size_t i) { return static_cast<float>((t * 7 + i * 3) % 11); });
    expected.fill([&](size_t t, size_t i) {
      float sum = bias[i % kChannels];
      for (uint32_t tap = 0; tap < kTaps; ++tap) {
        const float* row = window_row(in, static_cast<uint32_t>(t), 1, tap);
        for (uint32_t j = 0; row != nullptr && j < kReach; ++j) {
          const int place = static_cast<int>(i / kChannels) * 2 - 1 + static_cast<int>(j);
          if (place < 0 || place >= static_cast<int>(kPlaces)) continue;
          sum += weight[(tap * kReach + j) * kChannels + i % kChannels] *
                 row[static_cast<size_t>(place) * kChannels + i % kChannels];
        }
      }
      return sum < 0.0f ? 0.0f : sum;
    });
    for (const Split split : kSplits) {
      out.fill([](size_t, size_t) { return -1.0f; });
      run_kernel(
          entry,
          DepthwiseConvArgs{kChannels, kPlaces, kOut, kReach, 1, 2, Activation::relu, window_of(kTaps, 1),
                            weight, bias, in_one_lane(in.const_view()), out.view()},
          kGroups, split);
      check_same_bits(expected, out);
    }
  });
}

TEST("a norm over time takes the values of a sequence's rows together, by groups of columns", "[time_norm]") {
  each_kernel(Op::kTimeNorm, [](const KernelEntry& entry) {
    constexpr uint32_t kWidth = 20;
    const uint32_t starts[] = {3, 8, 12};
    for (const uint32_t groups : {1u, 4u, kWidth}) {
      float weight[kWidth], bias[kWidth];
      for (uint32_t i = 0; i < kWidth; ++i) weight[i] = 1.0f + static_cast<float>(i), bias[i] = 0.25f;
      GuardedRows in(kRows, kWidth, Edge::end), out(kRows, kWidth, Edge::end);
      in.fill([](size_t t, size_t i) { return static_cast<float>((t * 5 + i * 9) % 13) + 100.0f; });
      TimeNormArgs args{kWidth, groups, 1e-5f, Activation::none, weight,
                        bias,   starts, 0,     in.const_view(),  out.view()};
      run_kernel(entry, args, 2 * args.units_of_sequence());
      const uint32_t part = kWidth / groups;
      for (uint32_t s = 0; s < 2; ++s) {
        const uint32_t first = starts[s] - 3, last = starts[s + 1] - 3;
        for (uint32_t i = 0; i < kWidth; ++i) {
          double sum = 0, squares = 0;
          const double count = (last - first) * part;
          for (uint32_t t = first; t < last; ++t)
            for (uint32_t j = i / part * part; j < i / part * part + part; ++j) sum += double{in[t][j]};
          for (uint32_t t = first; t < last; ++t)
            for (uint32_t j = i / part * part; j < i / part * part + part; ++j)
              squares += std::pow(double{in[t][j]} - sum / count, 2);
          for (uint32_t t = first; t < last; ++t) {
            const double value =
                (double{in[t][i]} - sum / count) / std::sqrt(squares / count + double{args.eps});
            const double expected = value * double{weight[i]} + double{bias[i]};
            TEST_ASSERT_FLOAT_WITHIN(2e-7 * (1.0 + std::fabs(value)) * double{weight[i]}, expected,
                                     out[t][i]);
          }
        }
      }
    }
  });
}

TEST("an activation by itself is that of a linear", "[activate]") {
  each_kernel(Op::kActivate, [](const KernelEntry& entry) {
    GuardedRows in(2, 5, Edge::end), out(2, 5, Edge::end), expected(2, 5, Edge::start);
    in.fill([](size_t t, size_t i) { return static_cast<float>(i) - 2.0f - static_cast<float>(t); });
    expected.fill([&](size_t t, size_t i) { return in[t][i] < 0.0f ? 0.0f : in[t][i]; });
    run_kernel(entry, ActivateArgs{Activation::relu, 5, in.const_view(), out.view()}, 2);
    check_same_bits(expected, out);
  });
}

}  // namespace mote::test
