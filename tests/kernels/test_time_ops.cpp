// SPDX-License-Identifier: Apache-2.0
//
// Operations over neighbouring rows of a sequence.
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "kernels/recurrent_ops.h"
#include "tests/support/activation.h"
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

// Sequences of 5 and 4 rows; groups of 2 of their rows, of which the last of the first is of 1.
const int32_t kLast[] = {4, 4, 4, 4, 4, 3, 3, 3, 3};
const uint32_t kFirsts[] = {0, 2, 4, 5, 7, 9};
const int32_t kGroupPositions[] = {0, 1, 2, 0, 1};
constexpr uint32_t kGroups = 5, kTimeRows = 9;

/// Row t of a group's window, or nothing outside its sequence.
const float* window_row(const GuardedRows& in, uint32_t group, int before, uint32_t tap, int dilation = 1) {
  const int begin = group < 3 ? 0 : 5, end = group < 3 ? 5 : 9;
  const int row = static_cast<int>(kFirsts[group]) + (static_cast<int>(tap) - before) * dilation;
  return row < begin || row >= end ? nullptr : in[static_cast<size_t>(row)];
}

TimeWindow window_of(uint32_t taps, uint32_t before, uint32_t dilation = 1) {
  return {taps, before, dilation, 2, kFirsts, kGroupPositions, kLast};
}

}  // namespace

TEST("frames are a window's rows side by side, and zeros outside the sequence", "[frames]") {
  each_kernel(Op::kFrames, [](const KernelEntry& entry) {
    for (const uint32_t taps : {1u, 3u, 4u}) {
      for (uint32_t before = 0; before < taps; ++before) {
        for (const Split split : kSplits) {
          constexpr uint32_t kWidth = 3;
          const uint32_t dilation = taps == 3 ? 2 : 1;
          GuardedRows in(kTimeRows, kWidth, Edge::end), out(kGroups, taps * kWidth, Edge::end),
              expected(kGroups, taps * kWidth, Edge::start);
          in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i + 1); });
          out.fill([](size_t, size_t) { return -1.0f; });
          expected.fill([&](size_t t, size_t i) {
            const float* row = window_row(in, static_cast<uint32_t>(t), static_cast<int>(before),
                                          static_cast<uint32_t>(i) / kWidth, static_cast<int>(dilation));
            return row == nullptr ? 0.0f : row[i % kWidth];
          });
          const TimeWindow window = window_of(taps, before, dilation);
          run_kernel(entry, FramesArgs{kWidth, window, in_one_lane(in.const_view()), out.view()}, kGroups,
                     split);
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
      GuardedRows in(kTimeRows, kWidth, Edge::end), out(kGroups, kTaps * kWidth, Edge::end),
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

TEST("a split row's parts follow each other, or are a square of a picture with so many places in a line",
     "[split_rows]") {
  each_kernel(Op::kSplitRows, [](const KernelEntry& entry) {
    // Sequences of 4 and 5 rows of four parts, a picture of 2 columns; the second ends in half a line.
    constexpr uint32_t kWidth = 3, kParts = 4, kColumns = 2, kSide = 2, kSplit = kParts * kTimeRows;
    std::vector<uint32_t> firsts;
    std::vector<int32_t> positions;
    for (const uint32_t rows : {4u, 5u}) {
      for (uint32_t i = 0; i < rows * kParts; ++i) {
        firsts.push_back((rows == 4 ? 0 : 4) + i / kParts);
        positions.push_back(static_cast<int32_t>(i));
      }
    }
    const int32_t last[] = {3, 3, 3, 3, 4, 4, 4, 4, 4};
    for (const uint32_t columns : {0u, kColumns}) {
      for (const Split split : kSplits) {
        GuardedRows in(kTimeRows, kParts * kWidth, Edge::end), out(kSplit, kWidth, Edge::end),
            expected(kSplit, kWidth, Edge::start);
        in.fill([](size_t t, size_t i) { return static_cast<float>(t * 100 + i + 1); });
        out.fill([](size_t, size_t) { return -1.0f; });
        expected.fill([&](size_t t, size_t i) {
          const size_t begin = t < 16 ? 0 : 4, rows = t < 16 ? 4 : 5, own = t - begin * kParts;
          if (columns == 0) return in[begin + own / kParts][own % kParts * kWidth + i];
          const size_t y = own / 4, x = own % 4, row = y / 2 * 2 + x / 2;
          return row < rows ? in[begin + row][(y % 2 * 2 + x % 2) * kWidth + i] : 0.0f;
        });
        run_kernel(entry,
                   SplitRowsArgs{kWidth,
                                 kParts,
                                 columns,
                                 columns == 0 ? 0 : kSide,
                                 {},
                                 firsts.data(),
                                 positions.data(),
                                 last,
                                 in_one_lane(in.const_view()),
                                 out.view()},
                   kSplit, split);
        check_same_bits(expected, out);
      }
    }
  });
}

TEST("a depthwise convolution sums a channel's own values over rows and places", "[depthwise_conv]") {
  each_kernel(Op::kDepthwiseConv, [](const KernelEntry& entry) {
    constexpr uint32_t kChannels = 2, kPlaces = 5, kOut = 3, kTaps = 3, kReach = 3;
    float weight[kTaps * kReach * kChannels];
    for (uint32_t i = 0; i < kTaps * kReach * kChannels; ++i) weight[i] = static_cast<float>(i) - 7.0f;
    const float bias[] = {0.5f, -100.0f};
    GuardedRows in(kTimeRows, kPlaces * kChannels, Edge::end), out(kGroups, kOut * kChannels, Edge::end),
        expected(kGroups, kOut * kChannels, Edge::start);
    in.fill([](size_t t, size_t i) { return static_cast<float>((t * 7 + i * 3) % 11); });
    expected.fill([&](size_t t, size_t i) {
      float sum = bias[i % kChannels];
      for (uint32_t tap = 0; tap < kTaps; ++tap) {
        const float* row = window_row(in, static_cast<uint32_t>(t), 1, tap, 3);
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
          DepthwiseConvArgs{kChannels, kPlaces, kOut, kReach, 1, 2, Activation::relu, window_of(kTaps, 1, 3),
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
    for (const auto& [groups, activation] : {std::pair{1u, Activation::none},
                                             {4u, Activation::gelu},
                                             {kWidth, Activation::none},
                                             {kWidth, Activation::gelu}}) {
      float weight[kWidth], bias[kWidth];
      for (uint32_t i = 0; i < kWidth; ++i) weight[i] = 1.0f + static_cast<float>(i), bias[i] = 0.25f;
      GuardedRows in(kTimeRows, kWidth, Edge::end), out(kTimeRows, kWidth, Edge::end);
      in.fill([](size_t t, size_t i) { return static_cast<float>((t * 5 + i * 9) % 13) + 100.0f; });
      TimeNormArgs args{kWidth, groups, 1e-5f, activation,      weight,
                        bias,   starts, 0,     in.const_view(), out.view()};
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
            const double linear = value * double{weight[i]} + double{bias[i]};
            // The steepest slope of gelu, and what its kernels round.
            const bool activates = activation != Activation::none;
            const double slope = activates ? 1.13 : 1.0,
                         rounding = activates ? 2.5e-7 * std::fabs(linear) : 0.0;
            const double bound = 2e-7 * (1.0 + std::fabs(value)) * double{weight[i]};
            TEST_ASSERT_FLOAT_WITHIN(slope * bound + rounding, exact_activation(activation, linear),
                                     out[t][i]);
          }
        }
      }
    }
  });
}

TEST("a Fourier transform takes the rows of each sequence together", "[fourier]") {
  each_kernel(Op::kFourier, [](const KernelEntry& entry) {
    constexpr uint32_t kWidth = 11, kCounts[] = {1, 2, 7, 20};
    std::vector<int32_t> positions, last_seen;
    for (const uint32_t count : kCounts) {
      for (uint32_t p = 0; p < count; ++p) {
        positions.push_back(static_cast<int32_t>(p));
        last_seen.push_back(static_cast<int32_t>(count - 1));
      }
    }
    const auto rows = static_cast<uint32_t>(positions.size());
    GuardedRows in(rows, 2 * kWidth, Edge::end), out(rows, kWidth, Edge::end);
    in.fill([](size_t t, size_t i) { return static_cast<float>((t * 7 + i * 5) % 13) - 6.0f; });
    for (const Split split : kSplits) {
      out.fill([](size_t, size_t) { return -1.0f; });
      run_kernel(
          entry,
          FourierArgs{kWidth, positions.data(), last_seen.data(), in_one_lane(in.const_view()), out.view()},
          rows, split);
      for (size_t t = 0; t < rows; ++t) {
        const size_t first = t - static_cast<size_t>(positions[t]),
                     count = static_cast<size_t>(last_seen[t]) + 1;
        for (size_t i = 0; i < kWidth; ++i) {
          std::complex<double> sum = 0;
          for (size_t p = 0; p < count; ++p) {
            const double angle =
                -2 * M_PI * static_cast<double>(p) * positions[t] / static_cast<double>(count);
            sum += std::polar(1.0, angle) *
                   std::complex<double>(double{in[first + p][i]}, double{in[first + p][kWidth + i]});
          }
          // Two products of values up to 6, each with a rounded factor and rounded itself, and their sums.
          const double rounding = static_cast<double>(count) * (2 * 6 * 2 + 12 * static_cast<double>(count));
          TEST_ASSERT_FLOAT_WITHIN(rounding * 0x1p-24, sum.real(), out[t][i]);
        }
      }
    }
  });
}

TEST("attention by as many landmarks as rows, of weights that are invertible, is attention", "[nystrom]") {
  // Then Z is nearly the inverse of A, and softmax(q k^T) A^-1 A v is what attention gives.
  each_kernel(Op::kNystrom, [](const KernelEntry& entry) {
    constexpr uint32_t kHeads = 2, kDim = 6, kTokens = 6;
    const uint32_t starts[] = {4, 10, 16};
    GuardedRows q(2 * kTokens, kHeads * kDim, Edge::end), k(2 * kTokens, kHeads * kDim, Edge::start),
        v(2 * kTokens, kHeads * kDim, Edge::end), out(2 * kTokens, kHeads * kDim, Edge::end);
    const auto unit = [](size_t t, size_t i) {
      return t % kTokens == i % kDim ? 3.0f : 0.01f * static_cast<float>(t % 5);
    };
    q.fill(unit);
    k.fill(unit);
    v.fill([](size_t t, size_t i) { return static_cast<float>((t * 7 + i * 5) % 13) - 6.0f; });
    const NystromArgs args{kHeads,   kDim,           kTokens,        0.5f,           starts,    0,
                           kOneLane, q.const_view(), k.const_view(), v.const_view(), out.view()};
    for (const Split split : kSplits) {
      run_kernel(entry, args, 2, split, static_cast<size_t>(nystrom_scratch_bytes(args)));
      for (size_t t = 0; t < 2 * kTokens; ++t) {
        for (size_t head = 0; head < kHeads; ++head) {
          double weights[kTokens], sum = 0;
          const size_t first = t / kTokens * kTokens;
          for (size_t p = 0; p < kTokens; ++p) {
            double dot = 0;
            for (size_t e = 0; e < kDim; ++e)
              dot += double{q[t][head * kDim + e]} * double{k[first + p][head * kDim + e]};
            sum += weights[p] = std::exp(0.5 * dot);
          }
          for (size_t e = 0; e < kDim; ++e) {
            double expected = 0;
            for (size_t p = 0; p < kTokens; ++p)
              expected += weights[p] / sum * double{v[first + p][head * kDim + e]};
            // The inverse has converged to floats' precision; it multiplies values up to 6 six at a time.
            TEST_ASSERT_FLOAT_WITHIN(1e-4, expected, out[t][head * kDim + e]);
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

TEST("a leaky rectifier multiplies negative values alone", "[leaky_relu]") {
  each_kernel(Op::kLeakyRelu, [](const KernelEntry& entry) {
    GuardedRows in(2, 5, Edge::end), out(2, 5, Edge::end), expected(2, 5, Edge::start);
    in.fill([](size_t t, size_t i) { return static_cast<float>(i) - 2.0f - static_cast<float>(t); });
    expected.fill([&](size_t t, size_t i) { return in[t][i] < 0.0f ? 0.1f * in[t][i] : in[t][i]; });
    run_kernel(entry, LeakyReluArgs{5, 0.1f, in.const_view(), out.view()}, 2);
    check_same_bits(expected, out);
  });
}

TEST("inputs are the caller's rows, and zeros where there is none", "[input]") {
  each_kernel(Op::kInput, [](const KernelEntry& entry) {
    GuardedRows in(2, 5, Edge::end), out(3, 5, Edge::end), expected(3, 5, Edge::start);
    in.fill([](size_t t, size_t i) { return static_cast<float>(10 * t + i + 1); });
    expected.fill([&](size_t t, size_t i) { return t == 1 ? 0.0f : in[t / 2][i]; });
    const float* const rows[] = {in[0], nullptr, in[1]};
    run_kernel(entry, InputArgs{5, rows, out.view()}, 3);
    check_same_bits(expected, out);
  });
}

namespace {

constexpr double kTimeBound = 5.0;

/// The ends of `bins` bins by their logits, in a square of sides +-kTimeBound.
std::vector<double> ends_of(const float* logits, uint32_t bins) {
  double sum = 0;
  for (uint32_t i = 0; i < bins; ++i) sum += std::exp(double{logits[i]});
  std::vector<double> ends = {-kTimeBound};
  for (uint32_t i = 0; i < bins; ++i)
    ends.push_back(ends.back() +
                   2 * kTimeBound * (1e-3 + (1 - 1e-3 * bins) * std::exp(double{logits[i]}) / sum));
  return ends;
}

/// The spline at x, as the paper's equation 4 has it.
double spline_at(const float* curve, uint32_t bins, double x) {
  const std::vector<double> xs = ends_of(curve, bins), ys = ends_of(curve + bins, bins);
  uint32_t k = 0;
  while (k + 1 < bins && x >= xs[k + 1]) ++k;
  const auto slope = [&](uint32_t knot) {
    return knot == 0 || knot == bins ? 1.0 : 1e-3 + std::log1p(std::exp(double{curve[2 * bins + knot - 1]}));
  };
  const double height = ys[k + 1] - ys[k], s = height / (xs[k + 1] - xs[k]);
  const double r = (x - xs[k]) / (xs[k + 1] - xs[k]), d0 = slope(k), d1 = slope(k + 1);
  return ys[k] + height * (s * r * r + d0 * r * (1 - r)) / (s + (d0 + d1 - 2 * s) * r * (1 - r));
}

}  // namespace

TEST("a spline's kernel gives what the spline takes to its input", "[spline]") {
  each_kernel(Op::kSpline, [](const KernelEntry& entry) {
    constexpr uint32_t kCount = 64;
    for (const uint32_t bins : {2u, 4u, 10u}) {
      GuardedRows in(kCount, 1, Edge::end), curve(kCount, 3 * bins - 1, Edge::end), out(kCount, 1, Edge::end);
      Random random(bins);
      curve.fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
      in.fill([&](size_t t, size_t) { return t == 0 ? -5.0f : t == 1 ? 5.0f : random.uniform(-7.0f, 7.0f); });
      const SplineArgs args{bins, static_cast<float>(kTimeBound), in.const_view(), curve.const_view(),
                            out.view()};
      for (const Split split : kSplits) {
        run_kernel(entry, args, kCount, split);
        for (size_t t = 0; t < kCount; ++t) {
          const double x = double{out[t][0]}, y = double{in[t][0]};
          CAPTURE(bins, t, y);
          // Ends of bins are rounded at a magnitude of 5, some ten times; the spline's slopes are below 300.
          const double expected = std::fabs(y) > kTimeBound ? x : spline_at(curve[t], bins, x);
          TEST_ASSERT_FLOAT_WITHIN(300 * 10 * 5 * 0x1p-24, expected, y);
        }
      }
    }
  });
}

TEST("a spline of logits that are not finite takes no place outside its rows", "[spline]") {
  each_kernel(Op::kSpline, [](const KernelEntry& entry) {
    constexpr uint32_t kBins = 3;
    GuardedRows in(3, 1, Edge::end), curve(3, 3 * kBins - 1, Edge::end), out(3, 1, Edge::end);
    in.fill([](size_t t, size_t) { return t == 2 ? std::nanf("") : 1.0f; });
    curve.fill([](size_t t, size_t) { return t == 0 ? INFINITY : std::nanf(""); });
    run_kernel(entry, SplineArgs{kBins, 5.0f, in.const_view(), curve.const_view(), out.view()}, 3);
    TEST_ASSERT_TRUE(std::isnan(out[2][0]));
  });
}

}  // namespace mote::testing
