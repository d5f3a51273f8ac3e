// SPDX-License-Identifier: Apache-2.0
//
// The table: every kernel within 2^-22 |scale| of cosine and sine in double precision of the angle rounded to
// f32. The rotation: two roundings and a sum, so every kernel is exact to the bit.
#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

struct RopeCase {
  RopeKind kind;
  uint32_t rows, heads, head_dim, rotary_width;
};

void check_rope(const KernelEntry& entry, const RopeCase& c, Edge edge, Split split) {
  INFO((c.kind == RopeKind::half ? "half" : "interleaved")
       << ", T " << c.rows << ", H " << c.heads << ", E " << c.head_dim << ", R " << c.rotary_width);
  Random random(c.head_dim);
  GuardedRows table(c.rows, c.rotary_width, edge), x(c.rows, c.heads * c.head_dim, edge);
  GuardedRows expected(c.rows, c.heads * c.head_dim, Edge::start);
  table.fill([&](size_t, size_t) { return random.uniform(-1.0f, 1.0f); });
  x.fill([&](size_t t, size_t) { return t == 1 ? INFINITY : random.uniform(-4.0f, 4.0f); });
  expected.fill([&](size_t t, size_t i) {
    const size_t half = c.rotary_width / 2, e = i % c.head_dim;
    if (e >= c.rotary_width) return x[t][i];
    const bool is_half = c.kind == RopeKind::half;
    const size_t pair = is_half ? e % half : e / 2;
    const bool is_first = is_half ? e < half : e % 2 == 0;
    const size_t step = is_half ? half : 1;
    const float cosine = table[t][pair], sine = table[t][half + pair];
    const float other = is_first ? x[t][i + step] : x[t][i - step];
    const volatile float own_part = x[t][i] * cosine, other_part = other * sine;
    return is_first ? own_part - other_part : own_part + other_part;
  });
  run_kernel(entry, RopeArgs{c.kind, c.heads, c.head_dim, c.rotary_width, table.const_view(), x.view()},
             c.rows, split);
  check_same_bits(expected, x);
}

}  // namespace

TEST("rope rotates the first columns of every head, bit by bit", "[rope]") {
  each_kernel(Op::kRope, [](const KernelEntry& entry) {
    for (const RopeKind kind : {RopeKind::half, RopeKind::interleaved}) {
      for (const uint32_t head_dim :
           {2u, 4u, 6u, 8u, 10u, 12u, 16u, 18u, 24u, 30u, 32u, 34u, 64u, 80u, 128u}) {
        for (uint32_t rotary = 2; rotary <= head_dim; rotary += head_dim > 34 ? 14 : 2) {
          check_rope(entry, {kind, 2, 3, head_dim, rotary}, Edge::end, Split::whole);
          check_rope(entry, {kind, 3, 1, head_dim, rotary}, Edge::start, Split::ones_backwards);
        }
      }
      check_rope(entry, {kind, 0, 2, 16, 16}, Edge::end, Split::whole);
    }
  });
}

TEST("rope table holds cosines and sines of position times frequency", "[rope]") {
  each_kernel(Op::kRopeTable, [](const KernelEntry& entry) {
    const int32_t positions[] = {0, 1, 17, 4095, 131071};
    for (uint32_t half = 1; half <= 40; ++half) {
      for (const Split split : kSplits) {
        GuardedRows frequencies(1, half, Edge::end), out(5, 2 * half, Edge::end);
        frequencies.fill([&](size_t, size_t i) {
          return powf(10000.0f, -static_cast<float>(i) / static_cast<float>(half));
        });
        const float scale = 1.25f;
        run_kernel(entry, RopeTableArgs{frequencies[0], 2 * half, scale, 0.0f, 1, positions, out.view(), {}},
                   5, split);
        check_within(
            out,
            [&](size_t t, size_t i) {
              const volatile float angle = static_cast<float>(positions[t]) * frequencies[0][i % half];
              const double a = static_cast<double>(angle);
              return static_cast<double>(scale) * (i < half ? cos(a) : sin(a));
            },
            [&](size_t, size_t) { return 0x1p-22 * static_cast<double>(scale); });
      }
    }
  });
}

TEST("shifts of a rope table are added to the position, each for its frequency", "[rope]") {
  each_kernel(Op::kRopeTable, [](const KernelEntry& entry) {
    const int32_t positions[] = {0, 7, 131071};
    const float frequencies[] = {1.0f, 0.25f};
    GuardedRows shifts(3, 2, Edge::end), out(3, 4, Edge::end), expected(1, 4, Edge::end);
    shifts.fill([](size_t t, size_t i) {
      return t == 0 ? 3.0f - 3.0f * static_cast<float>(i) : i == 0 ? 3.0f : -2.0f;
    });
    const auto args = [&](const int32_t* at, const GuardedRows& to, ConstRows by) {
      return RopeTableArgs{frequencies, 4, 1.0f, 0.0f, 1, at, to.view(), by};
    };
    run_kernel(entry, args(positions, out, shifts.const_view()), 3);
    for (size_t t = 0; t < 3; ++t) {
      for (size_t i = 0; i < 2; ++i) {  // what the position that it comes to has
        const int32_t place = t == 0   ? (i == 0 ? 3 : 0)
                              : t == 1 ? (i == 0 ? 10 : 5)
                                       : positions[2] + (i == 0 ? 3 : -2);
        run_kernel(entry, args(&place, expected, {}), 1);
        TEST_ASSERT_EQUAL_FLOAT(expected[0][i], out[t][i]);
        TEST_ASSERT_EQUAL_FLOAT(expected[0][2 + i], out[t][2 + i]);
      }
    }
  });
}

TEST("the scale of a rope table grows with the logarithm of the position", "[rope]") {
  each_kernel(Op::kRopeTable, [](const KernelEntry& entry) {
    const int32_t positions[] = {0, 15, 16, 47, 1000000};
    const float frequencies[] = {0.0f};  // whose cosine is 1
    GuardedRows out(5, 2, Edge::end);
    run_kernel(entry, RopeTableArgs{frequencies, 2, 1.5f, 0.5f, 16, positions, out.view(), {}}, 5);
    for (size_t t = 0; t < 5; ++t) {
      const double steps = floor(positions[t] / 16.0), expected = 1.5 * (1.0 + 0.5 * log(1.0 + steps));
      TEST_ASSERT_FLOAT_WITHIN(expected * 0x1p-22, expected, out[t][0]);
      TEST_ASSERT_EQUAL_FLOAT(0.0f, out[t][1]);
    }
  });
}

}  // namespace mote::testing
