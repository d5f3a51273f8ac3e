// SPDX-License-Identifier: Apache-2.0
//
// Convolutions over the last rows of a sequence, against sums of doubles.
#include "tests/support/activation.h"
#include "tests/support/bounded.h"
#include "tests/support/recurrent_case.h"

namespace mote::testing {
namespace {

constexpr uint32_t kRows = 11;

struct Conv {
  Conv(uint32_t columns, uint32_t kernel_taps, bool with_bias, Activation activation)
      : width(columns), taps(kernel_taps), weight(size_t{kernel_taps} * columns), bias(columns) {
    Random random(columns * 8 + kernel_taps);
    run.in.emplace_back(kRows, columns, Edge::end);
    run.in[0].fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
    for (float& w : weight) w = random.uniform(-1.0f, 1.0f);
    for (float& b : bias) b = with_bias ? random.uniform(-1.0f, 1.0f) : 0.0f;
    run.heads = 1;
    run.rows = taps - 1;
    run.cols = run.out_width = width;
    run.args = [this, with_bias, activation](const FixedStateView& state, const SequenceRows& rows,
                                             const std::vector<ConstRows>& in, Rows out) {
      return CausalConvArgs{state, rows,       kOneLane,      taps,
                            width, activation, weight.data(), with_bias ? bias.data() : nullptr,
                            in[0], out};
    };
  }
  Conv(const Conv&) = delete;

  Bounded exact(size_t t, size_t c) const {
    Bounded sum = double{bias[c]};
    for (size_t tap = t + 1 < taps ? taps - t - 1 : 0; tap < taps; ++tap)
      sum = sum + Bounded(weight[tap * width + c]) * Bounded(run.in[0][t + tap + 1 - taps][c]);
    return sum;
  }

  uint32_t width, taps;
  std::vector<float> weight, bias;
  RecurrentCase<CausalConvArgs> run;
};

}  // namespace

TEST("a causal convolution is the sum of the last rows by their taps, zeros before the text",
     "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    for (const uint32_t width : {1u, 5u, 63u, 64u, 65u, 130u}) {
      for (uint32_t taps = 2; taps <= kMaxTaps; ++taps) {
        CAPTURE(width, taps);
        const Conv c(width, taps, taps % 2 == 0, Activation::none);
        check_within(
            c.run.run(entry, kRows), [&](size_t t, size_t i) { return c.exact(t, i).value; },
            [&](size_t t, size_t i) { return c.exact(t, i).error; });
      }
    }
  });
}

TEST("the activation of a causal convolution is that of other operations", "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    for (const Activation activation : {Activation::silu, Activation::relu, Activation::gelu}) {
      const Conv plain(70, 4, true, Activation::none), activated(70, 4, true, activation);
      const GuardedRows sums = plain.run.run(entry, kRows);
      check_within(
          activated.run.run(entry, kRows),
          [&](size_t t, size_t i) { return exact_activation(activation, sums[t][i]); },
          [&](size_t t, size_t i) { return 0x1p-21 * fabs(double{sums[t][i]}); });
    }
  });
}

TEST("a causal convolution has the same bits in calls of any size and any split of its units",
     "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    for (const uint32_t taps : {2u, 3u, 4u, 8u})
      check_calls_of_any_size(entry, Conv(150, taps, true, Activation::silu).run);
  });
}

TEST("rows of several sequences in any mix, and in lanes, are convolved each with its own", "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    for (const uint32_t taps : {2u, 4u, 8u})
      check_mixed_sequences(entry, Conv(66, taps, true, Activation::none).run);
  });
}

TEST("a convolution in place gives the bits of one into other rows, and its state is the last rows",
     "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    const Conv c(66, 4, true, Activation::none);
    const MixedRows mixed(std::vector<uint32_t>(kRows, 0), {0});
    GuardedRows rows(kRows, c.width, Edge::end);
    rows.copy_from(c.run.in[0]);
    FixedSlots slots(1, 1, 3, c.width);
    c.run.call(entry, c.run.args(slots.view(), mixed.view(), {rows.const_view()}, rows.view()), mixed,
               Split::whole);
    check_same_bits(c.run.run(entry, kRows), rows);
    slots.commit();
    for (uint32_t i = 0; i < 3; ++i)
      TEST_ASSERT_EQUAL_MEMORY(c.run.in[0][kRows - 3 + i], slots.kept(0) + i * c.width,
                               c.width * sizeof(float));
  });
}

TEST("a NaN reaches its own channel alone, and leaves it with the taps", "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    const Conv c(70, 3, false, Activation::none);
    const GuardedRows expected = c.run.run(entry, 2);
    c.run.in[0][4][66] = NAN;
    const GuardedRows out = c.run.run(entry, 2);
    for (uint32_t t = 0; t < kRows; ++t) {
      for (uint32_t i = 0; i < 70; ++i) {
        if (i == 66 && t >= 4 && t <= 6) {
          TEST_ASSERT_FLOAT_IS_NAN(out[t][i]);
        } else {
          TEST_ASSERT_EQUAL(expected[t][i], out[t][i]);
        }
      }
    }
  });
}

}  // namespace mote::testing
