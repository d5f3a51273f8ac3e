// SPDX-License-Identifier: Apache-2.0
//
// Every kernel, the reference included, is within 2^-19 |x up| of activation(x) * up in double precision;
// none and relu are exact to the bit.
#include "tests/support/activation.h"
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

// Includes the tails, where e^-x overflows and where it vanishes.
constexpr float kGates[] = {0.0f,  -0.0f,  1e-30f, -1e-30f, 0.5f,  -0.5f,  1.0f,  -1.0f,  3.0f,     -3.0f,
                            5.5f,  -5.5f,  9.0f,   -9.0f,   17.0f, -17.0f, 60.0f, -60.0f, 88.0f,    -88.0f,
                            90.0f, -90.0f, 104.0f, -104.0f, 1e4f,  -1e4f,  1e30f, -1e30f, INFINITY, NAN};
constexpr size_t kGateCount = sizeof kGates / sizeof kGates[0];

void check(const KernelEntry& entry, Activation activation, uint32_t rows, uint32_t width, Edge edge,
           Split split) {
  INFO("activation " << static_cast<int>(activation) << ", T " << rows << ", width " << width);
  Random random(width);
  GuardedRows gate(rows, width, edge), up(rows, width, edge), out(rows, width, edge);
  gate.fill([&](size_t t, size_t i) {
    return t % 2 == 0 ? kGates[(t * width + i) % kGateCount] : random.uniform(-12.0f, 12.0f);
  });
  up.fill([&](size_t, size_t) { return random.uniform(0.5f, 2.0f); });
  run_kernel(entry, GateArgs{activation, width, width, gate.const_view(), up.const_view(), out.view()}, rows,
             split);
  const bool exact = activation == Activation::none || activation == Activation::relu;
  check_within(
      out,
      [&](size_t t, size_t i) {
        const double value =
            exact_activation(activation, static_cast<double>(gate[t][i])) * static_cast<double>(up[t][i]);
        return exact ? static_cast<double>(static_cast<float>(value)) : value;
      },
      [&](size_t t, size_t i) {
        const double x = activation == Activation::sigmoid
                             ? exact_activation(activation, static_cast<double>(gate[t][i]))
                             : static_cast<double>(gate[t][i]);
        const double least = activation == Activation::sigmoid ? 0x1p-126 : 0.0;  // it may vanish
        return exact ? 0.0 : 0x1p-19 * fabs(x * static_cast<double>(up[t][i])) + least;
      });
}

}  // namespace

TEST("gate meets its formula for every activation and width", "[gate]") {
  each_kernel(Op::kGate, [](const KernelEntry& entry) {
    for (int activation = 0; activation <= 7; ++activation) {
      for (uint32_t width = 1; width <= 40; ++width) {
        check(entry, static_cast<Activation>(activation), 3, width, Edge::end, Split::whole);
        check(entry, static_cast<Activation>(activation), 2, width, Edge::start, Split::ones_backwards);
      }
      check(entry, static_cast<Activation>(activation), 0, 8, Edge::end, Split::whole);
    }
  });
}

TEST("tanh is within 4 units in the last place, its small values too", "[gate]") {
  each_kernel(Op::kGate, [](const KernelEntry& entry) {
    constexpr uint32_t kWidth = 4096;
    GuardedRows gate(1, kWidth, Edge::end), up(1, kWidth, Edge::end), out(1, kWidth, Edge::end);
    Random random(7);
    gate.fill([&](size_t, size_t i) {
      const float magnitude = i % 2 == 0 ? random.uniform(0.0f, 10.0f) : exp2f(random.uniform(-60.0f, 0.0f));
      return i % 3 == 0 ? -magnitude : magnitude;
    });
    up.fill([](size_t, size_t) { return 1.0f; });
    run_kernel(entry,
               GateArgs{Activation::tanh, kWidth, kWidth, gate.const_view(), up.const_view(), out.view()}, 1);
    check_within(
        out, [&](size_t t, size_t i) { return tanh(static_cast<double>(gate[t][i])); },
        [&](size_t t, size_t i) { return 4 * 0x1p-23 * fabs(tanh(static_cast<double>(gate[t][i]))); });
  });
}

TEST("gate may write over either input", "[gate]") {
  each_kernel(Op::kGate, [](const KernelEntry& entry) {
    for (const uint32_t width : {1u, 15u, 16u, 37u}) {
      GuardedRows gate(2, width, Edge::end), up(2, width, Edge::end), out(2, width, Edge::end);
      Random random(width);
      gate.fill([&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); });
      up.fill([&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); });
      GuardedRows over_gate(2, width, Edge::end), over_up(2, width, Edge::end);
      over_gate.copy_from(gate);
      over_up.copy_from(up);
      const auto run = [&](const GuardedRows& g, const GuardedRows& u, const GuardedRows& o) {
        run_kernel(entry, GateArgs{Activation::silu, width, width, g.const_view(), u.const_view(), o.view()},
                   2);
      };
      run(gate, up, out);
      run(over_gate, up, over_gate);
      run(gate, over_up, over_up);
      check_same_bits(out, over_gate);
      check_same_bits(out, over_up);
    }
  });
}

TEST("a gate for several columns gives the bits of one for each", "[gate]") {
  each_kernel(Op::kGate, [](const KernelEntry& entry) {
    for (int activation = 0; activation <= 7; ++activation) {
      for (const uint32_t part : {1u, 3u, 16u, 37u}) {
        constexpr uint32_t kGates = 3;
        const uint32_t width = kGates * part;
        GuardedRows few(2, kGates, Edge::end), gate(2, width, Edge::end), up(2, width, Edge::end),
            out(2, width, Edge::end), wide(2, width, Edge::end);
        Random random(part);
        few.fill([&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); });
        gate.fill([&](size_t t, size_t i) { return few[t][i / part]; });
        up.fill([&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); });
        const auto kind = static_cast<Activation>(activation);
        run_kernel(entry, GateArgs{kind, width, kGates, few.const_view(), up.const_view(), out.view()}, 2);
        run_kernel(entry, GateArgs{kind, width, width, gate.const_view(), up.const_view(), wide.view()}, 2);
        check_same_bits(out, wide);
      }
    }
  });
}

TEST("gate gives the same bits wherever in a row a value stands", "[gate]") {
  each_kernel(Op::kGate, [](const KernelEntry& entry) {
    for (int activation = 0; activation <= 7; ++activation) {
      GuardedRows gate(1, 40, Edge::end), up(1, 40, Edge::end), out(1, 40, Edge::end);
      gate.fill([](size_t, size_t) { return 1.2345f; });
      up.fill([](size_t, size_t) { return 0.77f; });
      const auto kind = static_cast<Activation>(activation);
      run_kernel(entry, GateArgs{kind, 40, 40, gate.const_view(), up.const_view(), out.view()}, 1);
      for (size_t i = 1; i < 40; ++i) TEST_ASSERT_EQUAL_MEMORY(&out[0][0], &out[0][i], 4);
    }
  });
}

}  // namespace mote::testing
