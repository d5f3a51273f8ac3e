// SPDX-License-Identifier: Apache-2.0
//
// Every kernel, the reference included, is for layer and rms, and of l2 with sqrt(sum) for divisor, within (n
// + 16) 2^-24 (|w| (|v| + mean |v|) / divisor + |bias|) of the formula in double precision, n the width of a
// group: its sums of n terms round once per term, in any order.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

struct NormCase {
  NormKind kind;
  bool eps_outside_root;
  uint32_t rows, groups, width;  // width of a group
  bool bias;
  Edge edge;
  float offset = 0.5f;  // mean of the values
  bool weight = true;
};

/// The formula for column i of the group v [n].
double exact_norm(const NormCase& c, float eps, const float* v, size_t i, double weight, double bias,
                  double* scale) {
  double mean = 0, mean_abs = 0, variance = 0;
  for (uint32_t k = 0; k < c.width; ++k) {
    mean += static_cast<double>(v[k]) / c.width;
    mean_abs += fabs(static_cast<double>(v[k])) / c.width;
  }
  if (c.kind == NormKind::affine) {
    *scale = fabs(weight * static_cast<double>(v[i])) + fabs(bias);
    return weight * static_cast<double>(v[i]) + bias;
  }
  if (c.kind != NormKind::layer) mean = 0;
  for (uint32_t k = 0; k < c.width; ++k) variance += pow(static_cast<double>(v[k]) - mean, 2) / c.width;
  const double e = static_cast<double>(eps);
  const double divisor = c.kind == NormKind::l2 ? fmax(sqrt(variance * c.width), e)
                         : c.eps_outside_root   ? sqrt(variance) + e
                                                : sqrt(variance + e);
  *scale = fabs(weight) * (fabs(static_cast<double>(v[i])) + mean_abs) / divisor + fabs(bias);
  return weight * (static_cast<double>(v[i]) - mean) / divisor + bias;
}

class Operands {
 public:
  explicit Operands(const NormCase& c)
      : case_(c),
        in(c.rows, c.groups * c.width, c.edge),
        weight(1, align_up(c.width, 16), Edge::end),
        bias(1, align_up(c.width, 16), Edge::end) {
    Random random(c.width);
    in.fill(
        [&](size_t t, size_t) { return c.offset + static_cast<float>(t + 1) * random.uniform(-1.0f, 1.0f); });
    weight.fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
    bias.fill([&](size_t, size_t) { return random.uniform(-1.0f, 1.0f); });
  }

  void run(const KernelEntry& entry, const GuardedRows& out, Split split = Split::whole) const {
    const NormArgs args = {case_.kind,
                           case_.eps_outside_root,
                           kEps,
                           case_.groups,
                           static_cast<uint32_t>(in.width()),
                           case_.weight ? weight[0] : nullptr,
                           case_.bias ? bias[0] : nullptr,
                           in.const_view(),
                           out.view()};
    run_kernel(entry, args, case_.rows, split);
  }

  void check(const GuardedRows& out) const {
    double scale = 0;
    const auto expected = [&](size_t t, size_t i) {
      const size_t in_group = i % case_.width;
      const double b = case_.bias ? static_cast<double>(bias[0][in_group]) : 0.0;
      const double w = case_.weight ? static_cast<double>(weight[0][in_group]) : 1.0;
      return exact_norm(case_, kEps, in[t] + i - in_group, in_group, w, b, &scale);
    };
    check_within(out, expected, [&](size_t t, size_t i) {
      expected(t, i);
      return (case_.width + 16) * 0x1p-24 * scale;
    });
  }

 private:
  static constexpr float kEps = 1e-5f;
  NormCase case_;

 public:
  GuardedRows in, weight, bias;
};

void check_case(const KernelEntry& entry, const NormCase& c, Split split = Split::whole) {
  INFO("kind " << static_cast<int>(c.kind) << ", T " << c.rows << ", groups " << c.groups << " of "
               << c.width);
  const Operands operands(c);
  GuardedRows out(c.rows, c.groups * c.width, c.edge);
  operands.run(entry, out, split);
  operands.check(out);
}

}  // namespace

TEST("norm meets its formula at every width, kind and convention of eps", "[norm]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2, NormKind::affine}) {
      for (const bool outside : {false, true}) {
        for (uint32_t width = 2; width <= 40; ++width) {
          check_case(entry, {kind, outside, 2, 1, width, width % 2 == 0, Edge::end});
          check_case(entry, {kind, outside, 3, 1, width, width % 2 != 0, Edge::start}, Split::ones_backwards);
        }
      }
    }
  });
}

TEST("norm meets its formula at the widths of models and for each group by itself", "[norm][values]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2}) {
      for (const uint32_t width : {8u, 10u, 12u, 36u, 44u, 60u, 64u, 576u}) {
        for (const uint32_t groups : {1u, 2u, 3u}) {
          for (const uint32_t rows : {0u, 1u, 5u}) {
            check_case(entry, {kind, false, rows, groups, width, true, Edge::end}, Split::halves);
          }
        }
      }
    }
  });
}

TEST("norm without a weight is norm with ones, and l2 gives rows of length 1 but for rows of almost nothing",
     "[norm]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    for (const uint32_t width : {1u, 3u, 8u, 24u, 37u, 384u}) {
      for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::l2}) {
        check_case(entry, {kind, false, 3, 1, width, width % 2 == 0, Edge::end, 0.5f, false});
      }
      const NormCase c{NormKind::l2, false, 2, 1, width, false, Edge::end, 0.5f, false};
      Operands operands(c);
      operands.in.fill([](size_t t, size_t i) { return t == 0 ? 0.0f : static_cast<float>(i + 1); });
      GuardedRows out(2, width, Edge::end);
      operands.run(entry, out);
      double length = 0;
      for (size_t i = 0; i < width; ++i) {
        TEST_ASSERT_TRUE(out[0][i] == 0.0f);
        length += pow(static_cast<double>(out[1][i]), 2);
      }
      TEST_ASSERT_FLOAT_WITHIN(1e-6, 1.0, length);
    }
  });
}

TEST("layer norm of values far from 0 does not cancel", "[norm]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    check_case(entry, {NormKind::layer, false, 2, 1, 64, true, Edge::end, 100.0f});
  });
}

TEST("norm of one column and of equal columns is finite", "[norm]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    for (const uint32_t width : {1u, 7u, 16u, 33u}) {
      Operands operands({NormKind::layer, false, 2, 1, width, true, Edge::end});
      operands.in.fill([](size_t t, size_t) { return t == 0 ? 0.0f : 0.25f; });
      GuardedRows out(2, width, Edge::end);
      operands.run(entry, out);
      for (size_t t = 0; t < 2; ++t) {
        for (size_t i = 0; i < width; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-4, operands.bias[0][i], out[t][i]);
      }
    }
  });
}

TEST("norm may write over its input", "[norm]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
      for (const uint32_t width : {7u, 16u, 45u}) {
        const Operands operands({kind, false, 3, 2, width, true, Edge::end});
        GuardedRows out(3, 2 * width, Edge::end);
        operands.run(entry, out);
        operands.run(entry, operands.in);
        check_same_bits(out, operands.in);
      }
    }
  });
}

TEST("norm keeps NaN and infinity to their row and group", "[norm]") {
  each_kernel(Op::kNorm, [](const KernelEntry& entry) {
    for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
      for (const float poison : {NAN, INFINITY}) {
        const uint32_t width = 37;
        Operands operands({kind, false, 3, 2, width, true, Edge::end});
        operands.in[1][width + 36] = poison;
        GuardedRows out(3, 2 * width, Edge::end);
        operands.run(entry, out);
        TEST_ASSERT_FLOAT_IS_NAN(out[1][width + 36]);
        for (size_t t = 0; t < 3; ++t) {
          for (size_t i = 0; i < 2 * width; ++i) {
            if (t != 1 || i < width) TEST_ASSERT_TRUE(isfinite(out[t][i]));
          }
        }
      }
    }
  });
}

}  // namespace mote::testing
