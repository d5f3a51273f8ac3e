// SPDX-License-Identifier: Apache-2.0
//
// A mean of n rows is within (n + 1) 2^-24 of the mean of magnitudes; the other kinds are exact to the bit.
#include <algorithm>

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

constexpr uint32_t kStarts[] = {0, 1, 4, 5, 12};  // sequences of 1, 3, 1 and 7 rows
constexpr uint32_t kSequences = 4, kRows = 12;

double exact(PoolKind kind, const GuardedRows& in, uint32_t begin, uint32_t end, size_t i,
             double* magnitude) {
  double sum = 0, most = -INFINITY;
  *magnitude = 0;
  for (uint32_t t = begin; t < end; ++t) {
    const double x = static_cast<double>(in[t][i]);
    sum += x;
    *magnitude += fabs(x) / (end - begin);
    most = fmax(most, x);
  }
  switch (kind) {
    case PoolKind::mean:
      return sum / (end - begin);
    case PoolKind::first:
      return static_cast<double>(in[begin][i]);
    case PoolKind::last:
      return static_cast<double>(in[end - 1][i]);
    case PoolKind::max:
      return most;
  }
  return 0;
}

void check(const KernelEntry& entry, PoolKind kind, uint32_t width, Edge edge, Split split) {
  INFO("kind " << static_cast<int>(kind) << ", width " << width);
  Random random(width);
  GuardedRows in(kRows, width, edge), out(kSequences, width, edge);
  in.fill([&](size_t, size_t) { return random.uniform(-3.0f, 3.0f); });
  run_kernel(entry,
             PoolArgs{kind, width, kStarts, in_one_lane(in.const_view()), out.view(), 0, 0, -1, nullptr},
             kSequences, split);
  double magnitude = 0;
  check_within(
      out, [&](size_t s, size_t i) { return exact(kind, in, kStarts[s], kStarts[s + 1], i, &magnitude); },
      [&](size_t s, size_t i) {
        exact(kind, in, kStarts[s], kStarts[s + 1], i, &magnitude);
        return kind == PoolKind::mean ? (kStarts[s + 1] - kStarts[s] + 1) * 0x1p-24 * magnitude : 0.0;
      });
}

}  // namespace

TEST("pool meets its formula for every kind and width", "[pool]") {
  each_kernel(Op::kPool, [](const KernelEntry& entry) {
    for (const PoolKind kind : {PoolKind::mean, PoolKind::first, PoolKind::last, PoolKind::max}) {
      for (uint32_t width = 1; width <= 40; ++width) {
        check(entry, kind, width, Edge::end, Split::whole);
        check(entry, kind, width, Edge::start, Split::ones_backwards);
      }
    }
  });
}

TEST("pool of later sequences takes their rows alone and leaves the others' results", "[pool]") {
  each_kernel(Op::kPool, [](const KernelEntry& entry) {
    constexpr uint32_t kFirst = 2, kWidth = 9;
    GuardedRows in(kRows - kStarts[kFirst], kWidth, Edge::end), out(kSequences, kWidth, Edge::end);
    in.fill([](size_t t, size_t i) { return static_cast<float>(t * 100 + i); });
    out.fill([](size_t, size_t) { return -1.0f; });
    run_kernel(entry,
               PoolArgs{PoolKind::last, kWidth, kStarts, in_one_lane(in.const_view()), out.view(), kFirst, 0,
                        -1, nullptr},
               kSequences - kFirst);
    for (size_t i = 0; i < kWidth; ++i) {
      TEST_ASSERT_TRUE(out[0][i] == -1.0f && out[1][i] == -1.0f);
      TEST_ASSERT_TRUE(out[2][i] == in[0][i] && out[3][i] == in[7][i]);
    }
  });
}

TEST("pool leaves the first rows out, but never the last", "[pool]") {
  each_kernel(Op::kPool, [](const KernelEntry& entry) {
    GuardedRows in(kRows, 3, Edge::end), out(kSequences, 3, Edge::end);
    in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i); });
    for (const uint32_t skip : {1u, 2u, 1000u}) {
      for (const PoolKind kind : {PoolKind::mean, PoolKind::first, PoolKind::last, PoolKind::max}) {
        run_kernel(entry,
                   PoolArgs{kind, 3, kStarts, in_one_lane(in.const_view()), out.view(), 0, skip, -1, nullptr},
                   kSequences);
        for (size_t s = 0; s < kSequences; ++s) {
          const uint32_t end = kStarts[s + 1], begin = std::min(kStarts[s] + skip, end - 1);
          double magnitude = 0;
          for (size_t i = 0; i < 3; ++i)
            TEST_ASSERT_DOUBLE_WITHIN(1e-5, exact(kind, in, begin, end, i, &magnitude), double{out[s][i]});
        }
      }
    }
  });
}

TEST("pool takes the last row whose token is no padding, and the first where all are", "[pool]") {
  each_kernel(Op::kPool, [](const KernelEntry& entry) {
    constexpr int32_t kPadding = 7;
    // Sequences of 1, 3, 1 and 7 rows: padding alone; at the end and inside; a word; at the end.
    constexpr int32_t kIds[kRows] = {7, 7, 4, 7, 5, 7, 1, 7, 2, 7, 7, 7};
    constexpr uint32_t kTaken[kSequences] = {0, 2, 4, 8};
    GuardedRows in(kRows, 3, Edge::end), out(kSequences, 3, Edge::end);
    in.fill([](size_t t, size_t i) { return static_cast<float>(t * 10 + i); });
    run_kernel(
        entry,
        PoolArgs{PoolKind::last, 3, kStarts, in_one_lane(in.const_view()), out.view(), 0, 0, kPadding, kIds},
        kSequences);
    for (size_t s = 0; s < kSequences; ++s) {
      for (size_t i = 0; i < 3; ++i) TEST_ASSERT_TRUE(out[s][i] == in[kTaken[s]][i]);
    }
    // Those of a later pass, whose rows and ids begin with its own.
    constexpr uint32_t kFirst = 3, kBefore = kStarts[kFirst];
    GuardedRows later(kRows - kBefore, 3, Edge::end);
    later.fill([](size_t t, size_t i) { return static_cast<float>((t + kBefore) * 10 + i); });
    out.fill([](size_t, size_t) { return -1.0f; });
    run_kernel(entry,
               PoolArgs{PoolKind::last, 3, kStarts, in_one_lane(later.const_view()), out.view(), kFirst, 0,
                        kPadding, kIds + kBefore},
               1);
    for (size_t i = 0; i < 3; ++i) TEST_ASSERT_TRUE(out[3][i] == in[8][i] && out[2][i] == -1.0f);
  });
}

TEST("pool gives NaN where a row that counts has one, and nowhere else", "[pool]") {
  each_kernel(Op::kPool, [](const KernelEntry& entry) {
    for (const PoolKind kind : {PoolKind::mean, PoolKind::max}) {
      for (const uint32_t poisoned : {5u, 8u, 11u}) {  // first, middle and last row of the last sequence
        GuardedRows in(kRows, 9, Edge::end), out(kSequences, 9, Edge::end);
        in.fill([](size_t t, size_t i) { return static_cast<float>(t + i); });
        in[poisoned][3] = NAN;
        run_kernel(entry,
                   PoolArgs{kind, 9, kStarts, in_one_lane(in.const_view()), out.view(), 0, 0, -1, nullptr},
                   kSequences);
        for (size_t s = 0; s < kSequences; ++s) {
          for (size_t i = 0; i < 9; ++i) TEST_ASSERT_TRUE((isnan(out[s][i]) != 0) == (s == 3 && i == 3));
        }
      }
    }
  });
}

}  // namespace mote::testing
