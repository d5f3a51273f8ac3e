// SPDX-License-Identifier: Apache-2.0
//
// Convolutions over the last rows of a sequence, against sums of doubles.
#include "tests/support/activation.h"
#include "tests/support/recurrent_case.h"

namespace mote::test {
namespace {

constexpr uint32_t kRows = 11;

struct Case {
  Case(uint32_t columns, uint32_t kernel_taps, bool with_bias, Activation function)
      : width(columns),
        taps(kernel_taps),
        has_bias(with_bias),
        activation(function),
        in(kRows, columns, Edge::end),
        weight(size_t{kernel_taps} * columns),
        bias(columns) {
    Random random(columns * 8 + kernel_taps);
    in.fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
    for (float& w : weight) w = random.uniform(-1.0f, 1.0f);
    for (float& b : bias) b = random.uniform(-1.0f, 1.0f);
  }

  CausalConvArgs args(const FixedSlots& slots, const MixedRows& rows, ConstRows from, Rows to) const {
    return {slots.view(), rows.view(), kOneLane,      taps,
            width,        activation,  weight.data(), has_bias ? bias.data() : nullptr,
            from,         to};
  }

  /// The sum of products, or of their magnitudes.
  double sum(uint32_t t, uint32_t c, bool magnitudes) const {
    double all = has_bias ? bias[c] : 0.0f;
    if (magnitudes) all = fabs(all);
    for (uint32_t tap = 0; tap < taps; ++tap) {
      if (t + tap + 1 < taps) continue;
      const double product = double{weight[size_t{tap} * width + c]} * double{in[t + tap + 1 - taps][c]};
      all += magnitudes ? fabs(product) : product;
    }
    return all;
  }

  /// The whole text in calls of `size` rows.
  GuardedRows run(const KernelEntry& entry, uint32_t size, Split split = Split::whole) const {
    GuardedRows out(kRows, width, Edge::end);
    FixedSlots slots(1, 1, taps - 1, width);
    in_calls(kRows, size, slots, [&](uint32_t begin, uint32_t, const MixedRows& rows) {
      const CausalConvArgs call = args(slots, rows, from(in, begin), to(out, begin));
      run_kernel(entry, call, call.units_of_sequence(), split);
    });
    return out;
  }

  uint32_t width, taps;
  bool has_bias;
  Activation activation;
  GuardedRows in;
  std::vector<float> weight, bias;
};

}  // namespace

TEST("a causal convolution is the sum of the last rows by their taps, zeros before the text",
     "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    for (const uint32_t width : {1u, 5u, 63u, 64u, 65u, 130u}) {
      for (uint32_t taps = 2; taps <= kMaxTaps; ++taps) {
        CAPTURE(width, taps);
        const Case c(width, taps, taps % 2 == 0, Activation::none);
        const auto value = [&](size_t t, size_t i, bool magnitudes) {
          return c.sum(static_cast<uint32_t>(t), static_cast<uint32_t>(i), magnitudes);
        };
        check_within(
            c.run(entry, kRows), [&](size_t t, size_t i) { return value(t, i, false); },
            [&](size_t t, size_t i) { return (c.taps + 1) * 0x1p-24 * value(t, i, true); });
      }
    }
  });
}

TEST("the activation of a causal convolution is that of other operations", "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    const Case plain(70, 4, true, Activation::none), silu(70, 4, true, Activation::silu);
    const GuardedRows sums = plain.run(entry, kRows);
    check_within(
        silu.run(entry, kRows),
        [&](size_t t, size_t i) { return sums[t][i] / (1.0 + exp(-double{sums[t][i]})); },
        [&](size_t t, size_t i) { return 0x1p-21 * fabs(double{sums[t][i]}); });
  });
}

TEST("a causal convolution has the same bits in calls of any size and any split of its units",
     "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    for (const uint32_t taps : {2u, 3u, 4u, 8u}) {
      const Case c(150, taps, true, Activation::silu);
      const GuardedRows whole = c.run(entry, kRows);
      for (uint32_t size = 1; size < kRows; ++size) {
        for (const Split split : kSplits) {
          CAPTURE(taps, size);
          check_same_bits(whole, c.run(entry, size, split));
        }
      }
    }
  });
}

TEST("rows of several sequences in any mix, also in lanes and in place, are convolved each with its own",
     "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    const Case c(66, 4, true, Activation::none);
    const GuardedRows alone = c.run(entry, kRows);
    // Sequence 2 has the whole text, sequence 0 its first rows; 1 has none.
    const std::vector<uint32_t> sequences = {2, 0, 2, 2, 2, 0, 0, 2, 2, 2, 2, 2, 2, 2};
    const MixedRows rows(sequences, {0, 0, 0});
    const auto place = [](size_t row) { return row / 5 * 7 + row % 5; };  // lanes of 5 rows, 2 between them
    GuardedRows mixed(place(sequences.size()), c.width, Edge::start),
        expected(mixed.rows(), c.width, Edge::start);
    mixed.fill([](size_t, size_t) { return NAN; });
    expected.copy_from(mixed);
    std::vector<uint32_t> seen(3);
    for (size_t row = 0; row < sequences.size(); ++row) {
      const uint32_t t = seen[sequences[row]]++;
      memcpy(mixed[place(row)], c.in[t], c.width * sizeof(float));
      memcpy(expected[place(row)], alone[t], c.width * sizeof(float));
    }
    FixedSlots slots(3, 1, 3, c.width);
    CausalConvArgs args = c.args(slots, rows, mixed.const_view(), mixed.view());
    args.lanes = {5, 7 * mixed.view().stride_bytes};
    run_kernel(entry, args, rows.sequences() * args.units_of_sequence(), Split::ones_backwards);
    check_same_bits(expected, mixed);
    slots.commit();
    TEST_ASSERT_EQUAL_MEMORY(c.in[kRows - 3], slots.kept(2), c.width * sizeof(float));
    TEST_ASSERT_EQUAL_MEMORY(c.in[0], slots.kept(0), c.width * sizeof(float));
    TEST_ASSERT_FLOAT_IS_NAN(slots.kept(1)[0]);
  });
}

TEST("a NaN reaches its own channel alone, and leaves it with the taps", "[causal_conv]") {
  each_kernel(Op::kCausalConv, [](const KernelEntry& entry) {
    const Case c(70, 3, false, Activation::none), clean(70, 3, false, Activation::none);
    c.in[4][66] = NAN;
    const GuardedRows out = c.run(entry, 2), expected = clean.run(entry, 2);
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

}  // namespace mote::test
