// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of mix_streams equal their formula to the bit; match_rms and cutoff are within 2^-18 of
// theirs in double precision, which covers sums of 80 columns.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

constexpr uint32_t kRows = 3;
constexpr double kBound = 0x1p-18;

void fill_any(GuardedRows& rows, uint32_t seed) {
  Random random(seed);
  rows.fill([&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); });
}

double mean_square(const float* row, uint32_t width) {
  double sum = 0.0;
  for (uint32_t k = 0; k < width; ++k) sum += static_cast<double>(row[k]) * static_cast<double>(row[k]);
  return sum / width;
}

}  // namespace

TEST("streams are mixed by each row's coefficients and added to the residual", "[mix_streams]") {
  each_kernel(Op::kMixStreams, [](const KernelEntry& entry) {
    constexpr uint32_t kShapes[][2] = {{1, 1}, {1, 4}, {3, 3}, {4, 2}};
    for (const auto& [inputs, count] : kShapes) {
      for (uint32_t width = 1; width <= 40; ++width) {
        CAPTURE(inputs, count, width);
        GuardedRows in(kRows, inputs * width, Edge::end), coefficients(kRows, count * inputs, Edge::end);
        GuardedRows residual(kRows, count * width, Edge::end), out(kRows, count * width, Edge::end);
        fill_any(in, width);
        fill_any(coefficients, width + 1);
        fill_any(residual, width + 2);
        const auto expected = [&, streams = inputs](size_t t, size_t k) {
          const size_t stream = k / width, column = k % width;
          float sum = 0.0f;
          for (size_t i = 0; i < streams; ++i)
            sum += coefficients[t][stream * streams + i] * in[t][i * width + column];
          return residual[t][k] + sum;
        };
        std::vector<std::vector<float>> wanted(kRows);
        for (size_t t = 0; t < kRows; ++t)
          for (size_t k = 0; k < size_t{count} * width; ++k) wanted[t].push_back(expected(t, k));
        MixStreamsArgs args{
            width,     inputs, count, in.const_view(), coefficients.const_view(), residual.const_view(),
            out.view()};
        run_kernel(entry, args, kRows, Split::halves);
        for (size_t t = 0; t < kRows; ++t)
          TEST_ASSERT_EQUAL_FLOAT_ARRAY(wanted[t].data(), out[t], wanted[t].size());
        args.out = residual.view();  // in place
        run_kernel(entry, args, kRows, Split::halves);
        for (size_t t = 0; t < kRows; ++t)
          TEST_ASSERT_EQUAL_FLOAT_ARRAY(wanted[t].data(), residual[t], wanted[t].size());
      }
    }
  });
}

TEST("rows take the root mean square of others, rows of nearly 0 that of eps", "[match_rms]") {
  each_kernel(Op::kMatchRms, [](const KernelEntry& entry) {
    constexpr float kEps = 1e-5f;
    for (uint32_t width = 1; width <= 80; ++width) {
      GuardedRows in(kRows, width, Edge::end), target(kRows, width, Edge::end), out(kRows, width, Edge::end);
      fill_any(in, width);
      fill_any(target, width + 1);
      for (uint32_t k = 0; k < width; ++k) in[2][k] *= 1e-6f;
      run_kernel(entry, MatchRmsArgs{width, kEps, in.const_view(), target.const_view(), out.view()}, kRows,
                 Split::halves);
      const auto expected = [&](size_t t, size_t k) {
        const double own = fmax(mean_square(in[t], width), static_cast<double>(kEps));
        return static_cast<double>(in[t][k]) * sqrt(mean_square(target[t], width) / own);
      };
      check_within(out, expected, [&](size_t t, size_t k) { return fabs(expected(t, k)) * kBound; });
    }
  });
}

TEST("what is not so many deviations above a row's mean becomes 0, the rest is what is above", "[cutoff]") {
  each_kernel(Op::kCutoff, [](const KernelEntry& entry) {
    for (const float deviations : {-0.5f, 0.0f, 1.6f}) {
      for (uint32_t width = 1; width <= 80; ++width) {
        CAPTURE(deviations, width);
        GuardedRows in(kRows, width, Edge::end), out(kRows, width, Edge::end);
        fill_any(in, width);
        run_kernel(entry, CutoffArgs{width, deviations, in.const_view(), out.view()}, kRows, Split::halves);
        const auto expected = [&](size_t t, size_t k) {
          double sum = 0.0, squares = 0.0;
          for (uint32_t i = 0; i < width; ++i) sum += static_cast<double>(in[t][i]);
          const double mean = sum / width;
          for (uint32_t i = 0; i < width; ++i) squares += pow(static_cast<double>(in[t][i]) - mean, 2.0);
          const double above =
              static_cast<double>(in[t][k]) - mean - static_cast<double>(deviations) * sqrt(squares / width);
          return fmax(above, 0.0);
        };
        check_within(out, expected, [&](size_t, size_t) { return 6.0 * kBound; });
      }
    }
  });
}

}  // namespace mote::testing
