// SPDX-License-Identifier: Apache-2.0
//
// The scans of Mamba-2 and Mamba, against plain loops of doubles that bound what f32 rounds.
#include "tests/support/bounded.h"
#include "tests/support/recurrent_case.h"

namespace mote::test {
namespace {

constexpr uint32_t kRows = 9;

std::vector<float> numbers(Random& random, size_t count, float low, float high) {
  std::vector<float> all(count);
  for (float& one : all) one = random.uniform(low, high);
  return all;
}

void fill(Random& random, GuardedRows& rows, float low, float high) {
  rows.fill([&](size_t, size_t) { return random.uniform(low, high); });
}

/// min or max of a time step, whose error stays what it was.
Bounded limited(const Bounded& d, double low, double high) {
  if (d.value < low) return low;
  return d.value > high ? Bounded(high) : d;
}

using Outputs = std::vector<std::vector<Bounded>>;

struct Ssm {
  Ssm(uint32_t head_count, uint32_t group_count, uint32_t n, uint32_t p, bool with_options, float low = 0.0f,
      float high = INFINITY)
      : heads(head_count), groups(group_count), dt_min(low), dt_max(high), options(with_options) {
    Random random(head_count * 64 + n);
    for (const uint32_t width : {heads * p, heads, groups * n, groups * n}) {
      run.in.emplace_back(kRows, width, Edge::end);
      fill(random, run.in.back(), -2.0f, 2.0f);
    }
    run.in[1][3][0] = 25.0f;  // above where softplus is the identity
    decay = numbers(random, heads, -1.5f, -0.01f);
    dt_bias = numbers(random, heads, -1.0f, 1.0f);
    skip = numbers(random, heads, -1.0f, 1.0f);
    run.heads = heads;
    run.rows = n;
    run.cols = p;
    run.out_width = heads * p;
    run.args = [this](const FixedStateView& state, const SequenceRows& rows, const std::vector<ConstRows>& in,
                      Rows out) {
      return SsmScanArgs{state,
                         rows,
                         kOneLane,
                         groups,
                         dt_min,
                         dt_max,
                         decay.data(),
                         options ? dt_bias.data() : nullptr,
                         options ? skip.data() : nullptr,
                         in[0],
                         in[1],
                         in[2],
                         in[3],
                         out};
    };
  }
  Ssm(const Ssm&) = delete;

  Outputs exact() const {
    const uint32_t n_count = run.rows, width = run.cols;
    std::vector<Bounded> state(size_t{heads} * n_count * width);
    Outputs out(kRows, std::vector<Bounded>(size_t{heads} * width));
    for (uint32_t t = 0; t < kRows; ++t) {
      for (uint32_t h = 0; h < heads; ++h) {
        const uint32_t group = h / (heads / groups);
        const Bounded d = limited(softplus(Bounded(run.in[1][t][h]) + Bounded(options ? dt_bias[h] : 0.0f)),
                                  dt_min, dt_max);
        const Bounded a = exponential(Bounded(decay[h]) * d);
        for (uint32_t p = 0; p < width; ++p) {
          const Bounded x = run.in[0][t][h * width + p];
          Bounded& y = out[t][h * width + p];
          y = Bounded(options ? skip[h] : 0.0f) * x;
          for (uint32_t n = 0; n < n_count; ++n) {
            Bounded& s = state[(size_t{h} * n_count + n) * width + p];
            s = a * s + Bounded(run.in[2][t][group * n_count + n]) * (d * x);
            y = y + s * Bounded(run.in[3][t][group * n_count + n]);
          }
        }
      }
    }
    return out;
  }

  uint32_t heads, groups;
  float dt_min, dt_max;
  bool options;
  std::vector<float> decay, dt_bias, skip;
  RecurrentCase<SsmScanArgs> run;
};

struct Selective {
  Selective(uint32_t width, uint32_t n, bool with_options) : options(with_options) {
    Random random(width * 64 + n);
    for (const uint32_t columns : {width, width, n, n}) {
      run.in.emplace_back(kRows, columns, Edge::end);
      fill(random, run.in.back(), -2.0f, 2.0f);
    }
    decay = numbers(random, size_t{n} * width, -1.5f, -0.01f);
    dt_bias = numbers(random, width, -1.0f, 1.0f);
    skip = numbers(random, width, -1.0f, 1.0f);
    run.heads = 1;
    run.rows = n;
    run.cols = run.out_width = width;
    run.args = [this](const FixedStateView& state, const SequenceRows& rows, const std::vector<ConstRows>& in,
                      Rows out) {
      return SelectiveScanArgs{state,
                               rows,
                               kOneLane,
                               decay.data(),
                               options ? dt_bias.data() : nullptr,
                               options ? skip.data() : nullptr,
                               in[0],
                               in[1],
                               in[2],
                               in[3],
                               out};
    };
  }
  Selective(const Selective&) = delete;

  Outputs exact() const {
    const uint32_t n_count = run.rows, width = run.cols;
    std::vector<Bounded> state(size_t{n_count} * width);
    Outputs out(kRows, std::vector<Bounded>(width));
    for (uint32_t t = 0; t < kRows; ++t) {
      for (uint32_t i = 0; i < width; ++i) {
        const Bounded x = run.in[0][t][i];
        const Bounded d = softplus(Bounded(run.in[1][t][i]) + Bounded(options ? dt_bias[i] : 0.0f));
        Bounded& y = out[t][i];
        y = Bounded(options ? skip[i] : 0.0f) * x;
        for (uint32_t n = 0; n < n_count; ++n) {
          Bounded& s = state[size_t{n} * width + i];
          s = exponential(Bounded(decay[size_t{n} * width + i]) * d) * s + Bounded(run.in[2][t][n]) * (d * x);
          y = y + s * Bounded(run.in[3][t][n]);
        }
      }
    }
    return out;
  }

  bool options;
  std::vector<float> decay, dt_bias, skip;
  RecurrentCase<SelectiveScanArgs> run;
};

}  // namespace

TEST("Mamba-2's scan is within its roundings of a plain loop, for heads, groups and widths of any numbers",
     "[ssm_scan]") {
  each_kernel(Op::kSsmScan, [](const KernelEntry& entry) {
    constexpr uint32_t kShapes[][4] = {{1, 1, 1, 1}, {2, 1, 5, 3}, {6, 3, 16, 8}, {4, 4, 33, 17}};
    for (const auto& [heads, groups, n, p] : kShapes) {
      for (const bool options : {false, true}) {
        CAPTURE(heads, groups, n, p, options);
        const Ssm c(heads, groups, n, p, options);
        check_bounded(c.run.run(entry, 4), c.exact());
      }
    }
  });
}

TEST("Mamba-2's time steps keep to their limits", "[ssm_scan]") {
  each_kernel(Op::kSsmScan, [](const KernelEntry& entry) {
    const Ssm c(4, 2, 8, 8, true, 0.7f, 0.9f);
    check_bounded(c.run.run(entry, kRows), c.exact());
  });
}

TEST("Mamba's scan is within its roundings of a plain loop, for channels and states of any numbers",
     "[selective_scan]") {
  each_kernel(Op::kSelectiveScan, [](const KernelEntry& entry) {
    for (const uint32_t width : {1u, 63u, 64u, 65u, 140u}) {
      for (const uint32_t n : {1u, 7u, 16u}) {
        CAPTURE(width, n);
        const Selective c(width, n, n != 7);
        check_bounded(c.run.run(entry, 4), c.exact());
      }
    }
  });
}

TEST("scans have the same bits in calls of any size and any split of their units",
     "[ssm_scan][selective_scan]") {
  each_kernel(Op::kSsmScan,
              [](const KernelEntry& entry) { check_calls_of_any_size(entry, Ssm(6, 2, 9, 5, true).run); });
  each_kernel(Op::kSelectiveScan,
              [](const KernelEntry& entry) { check_calls_of_any_size(entry, Selective(130, 9, true).run); });
}

TEST("scans of rows of several sequences in any mix, and in lanes, are each its own",
     "[ssm_scan][selective_scan]") {
  each_kernel(Op::kSsmScan,
              [](const KernelEntry& entry) { check_mixed_sequences(entry, Ssm(6, 2, 9, 5, true).run); });
  each_kernel(Op::kSelectiveScan,
              [](const KernelEntry& entry) { check_mixed_sequences(entry, Selective(130, 9, true).run); });
}

TEST("a NaN in a head's time step stays in that head", "[ssm_scan]") {
  each_kernel(Op::kSsmScan, [](const KernelEntry& entry) {
    const Ssm c(4, 2, 8, 3, true);
    const GuardedRows expected = c.run.run(entry, kRows);
    c.run.in[1][2][1] = NAN;
    const GuardedRows out = c.run.run(entry, kRows);
    for (uint32_t t = 0; t < kRows; ++t) {
      for (uint32_t i = 0; i < 12; ++i) {
        if (t >= 2 && i / 3 == 1) {
          TEST_ASSERT_FLOAT_IS_NAN(out[t][i]);
        } else {
          TEST_ASSERT_EQUAL(expected[t][i], out[t][i]);
        }
      }
    }
  });
}

}  // namespace mote::test
