// SPDX-License-Identifier: Apache-2.0
//
// Every kernel equals its formula to the bit.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

constexpr uint32_t kScaledRows = 3;
constexpr float kFactor = -1.7f;

/// Operands of a case; `scale` and `residual` may be left out.
struct ScaleCase {
  ScaleCase(uint32_t columns, bool with_scale, bool with_residual, Edge edge)
      : width(columns),
        in(kScaledRows, columns, edge),
        residual(kScaledRows, columns, edge),
        scale(1, columns, edge),
        has_scale(with_scale),
        has_residual(with_residual) {
    Random random(columns);
    const auto any = [&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); };
    in.fill(any);
    residual.fill(any);
    scale.fill(any);
  }

  ScaleRowsArgs args(const GuardedRows& from, const GuardedRows& added, const GuardedRows& to) const {
    return {width,
            has_scale ? scale[0] : nullptr,
            has_scale ? 1.0f : kFactor,
            from.const_view(),
            has_residual ? added.const_view() : ConstRows{nullptr, 0},
            to.view()};
  }

  float expected(size_t t, size_t k) const {
    const float product = in[t][k] * (has_scale ? scale[0][k] : kFactor);
    return has_residual ? product + residual[t][k] : product;
  }

  uint32_t width;
  GuardedRows in, residual, scale;
  bool has_scale, has_residual;
};

/// Calls check(case) for each choice of operands at each width, rows ending where memory does or not.
template <class Check>
void each_case(Check check) {
  for (uint32_t width = 1; width <= 40; ++width) {
    for (const bool scale : {false, true}) {
      for (const bool residual : {false, true}) {
        for (const Edge edge : {Edge::start, Edge::end}) {
          CAPTURE(width, scale, residual);
          check(ScaleCase(width, scale, residual, edge), edge);
        }
      }
    }
  }
}

}  // namespace

TEST("scaled rows meet their formula at every width, with and without a scale and a residual",
     "[scale_rows]") {
  each_kernel(Op::kScaleRows, [](const KernelEntry& entry) {
    each_case([&](const ScaleCase& c, Edge edge) {
      for (const Split split : kSplits) {
        GuardedRows out(kScaledRows, c.width, edge), expected(kScaledRows, c.width, Edge::start);
        expected.fill([&](size_t t, size_t k) { return c.expected(t, k); });
        run_kernel(entry, c.args(c.in, c.residual, out), kScaledRows, split);
        check_same_bits(expected, out);
      }
    });
  });
}

TEST("rows may be scaled in place and over the residual", "[scale_rows]") {
  each_kernel(Op::kScaleRows, [](const KernelEntry& entry) {
    each_case([&](const ScaleCase& c, Edge edge) {
      GuardedRows expected(kScaledRows, c.width, Edge::start), in(kScaledRows, c.width, edge),
          residual(kScaledRows, c.width, edge);
      expected.fill([&](size_t t, size_t k) { return c.expected(t, k); });
      in.copy_from(c.in);
      residual.copy_from(c.residual);
      run_kernel(entry, c.args(in, c.residual, in), kScaledRows);
      check_same_bits(expected, in);
      run_kernel(entry, c.args(c.in, residual, residual), kScaledRows);
      check_same_bits(expected, residual);
    });
  });
}

TEST("the product of a scaled row is rounded before the residual is added", "[scale_rows]") {
  each_kernel(Op::kScaleRows, [](const KernelEntry& entry) {
    constexpr uint32_t kWidth = 37;
    GuardedRows in(1, kWidth, Edge::end), residual(1, kWidth, Edge::end), out(1, kWidth, Edge::end);
    in.fill([](size_t, size_t) { return 1.0f + 0x1p-12f; });
    residual.fill([](size_t, size_t) { return -(1.0f + 0x1p-11f); });
    const ScaleRowsArgs args{kWidth,    nullptr, 1.0f + 0x1p-12f, in.const_view(), residual.const_view(),
                             out.view()};
    run_kernel(entry, args, 1);
    for (uint32_t k = 0; k < kWidth; ++k) TEST_ASSERT_EQUAL(0.0f, out[0][k]);  // fused it would be 2^-24
  });
}

TEST("a NaN or an infinity changes its own column of a scaled row alone", "[scale_rows]") {
  each_kernel(Op::kScaleRows, [](const KernelEntry& entry) {
    for (const float value : {NAN, INFINITY, -INFINITY}) {
      for (uint32_t at = 0; at < 37; ++at) {
        GuardedRows in(2, 37, Edge::end), out(2, 37, Edge::end), expected(2, 37, Edge::start);
        in.fill([&](size_t t, size_t k) { return t == 1 && k == at ? value : static_cast<float>(k); });
        expected.fill([&](size_t t, size_t k) { return in[t][k] * 2.0f; });
        run_kernel(entry, ScaleRowsArgs{37, nullptr, 2.0f, in.const_view(), {nullptr, 0}, out.view()}, 2);
        check_same_bits(expected, out);
      }
    }
  });
}

TEST("scaling no rows does nothing", "[scale_rows]") {
  each_kernel(Op::kScaleRows, [](const KernelEntry& entry) {
    run_kernel(entry, ScaleRowsArgs{8, nullptr, 2.0f, {nullptr, 64}, {nullptr, 64}, {nullptr, 64}}, 0);
  });
}

}  // namespace mote::testing
