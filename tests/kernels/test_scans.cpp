// SPDX-License-Identifier: Apache-2.0
//
// The scans of Mamba-2 and Mamba, against plain loops of doubles that bound what f32 rounds.
#include "tests/support/bounded.h"
#include "tests/support/recurrent_case.h"

namespace mote::testing {
namespace {

constexpr uint32_t kScanRows = 9;

/// min or max of a time step, whose error stays what it was.
Bounded limited(const Bounded& d, double low, double high) {
  if (d.value < low) return low;
  return d.value > high ? Bounded(high) : d;
}

using Outputs = std::vector<std::vector<Bounded>>;

/// What both have: the operands and the args of a call.
template <class Args>
struct Scan {
  /// `channels` have a bias of their time step and a skip each, with options.
  Scan(const std::vector<uint32_t>& widths, size_t decays, size_t channels, bool with_options)
      : options(with_options) {
    Random random(widths[0] * 64 + widths[2]);
    run.fill_operands(kScanRows, widths, random);
    const auto numbers = [&](size_t count, float low, float high) {
      std::vector<float> all(count);
      for (float& one : all) one = random.uniform(low, high);
      return all;
    };
    decay = numbers(decays, -1.5f, -0.01f);
    dt_bias = numbers(channels, -1.0f, 1.0f);
    skip = numbers(channels, -1.0f, 1.0f);
    run.out_width = widths[0];
    run.args = [this](const FixedStateView& state, const SequenceRows& rows, const std::vector<ConstRows>& in,
                      Rows out) {
      Args args = own;
      args.state = state;
      args.rows = rows;
      args.lanes = kOneLane;
      args.decay = decay.data();
      args.dt_bias = options ? dt_bias.data() : nullptr;
      args.skip = options ? skip.data() : nullptr;
      args.x = in[0], args.dt = in[1], args.b = in[2], args.c = in[3];
      args.out = out;
      return args;
    };
  }
  Scan(const Scan&) = delete;

  Bounded time_step(uint32_t t, uint32_t channel) const {
    return softplus(Bounded(run.in[1][t][channel]) + Bounded(options ? dt_bias[channel] : 0.0f));
  }
  Bounded skip_of(uint32_t channel) const { return options ? skip[channel] : 0.0f; }

  bool options;
  std::vector<float> decay, dt_bias, skip;
  Args own{};  // what is of one alone
  RecurrentCase<Args> run;
};

struct Ssm : Scan<SsmScanArgs> {
  Ssm(uint32_t heads, uint32_t groups, uint32_t n, uint32_t p, bool with_options, float low = 0.0f,
      float high = INFINITY)
      : Scan({heads * p, heads, groups * n, groups * n}, heads, heads, with_options) {
    run.in[1][3][0] = 25.0f;  // above where softplus is the identity
    own.groups = groups;
    own.dt_min = low;
    own.dt_max = high;
    run.heads = heads;
    run.rows = n;
    run.cols = p;
  }

  Outputs exact() const {
    const uint32_t heads = run.heads, n_count = run.rows, width = run.cols;
    std::vector<Bounded> state(size_t{heads} * n_count * width);
    Outputs out(kScanRows, std::vector<Bounded>(size_t{heads} * width));
    for (uint32_t t = 0; t < kScanRows; ++t) {
      for (uint32_t h = 0; h < heads; ++h) {
        const uint32_t group = h / (heads / own.groups);
        const Bounded d = limited(time_step(t, h), own.dt_min, own.dt_max);
        const Bounded a = exponential(Bounded(decay[h]) * d);
        for (uint32_t p = 0; p < width; ++p) {
          const Bounded x = run.in[0][t][h * width + p];
          Bounded& y = out[t][h * width + p];
          y = skip_of(h) * x;
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
};

struct Selective : Scan<SelectiveScanArgs> {
  Selective(uint32_t width, uint32_t n, bool with_options)
      : Scan({width, width, n, n}, size_t{n} * width, width, with_options) {
    run.heads = 1;
    run.rows = n;
    run.cols = width;
  }

  Outputs exact() const {
    const uint32_t n_count = run.rows, width = run.cols;
    std::vector<Bounded> state(size_t{n_count} * width);
    Outputs out(kScanRows, std::vector<Bounded>(width));
    for (uint32_t t = 0; t < kScanRows; ++t) {
      for (uint32_t i = 0; i < width; ++i) {
        const Bounded x = run.in[0][t][i];
        const Bounded d = time_step(t, i);
        Bounded& y = out[t][i];
        y = skip_of(i) * x;
        for (uint32_t n = 0; n < n_count; ++n) {
          Bounded& s = state[size_t{n} * width + i];
          s = exponential(Bounded(decay[size_t{n} * width + i]) * d) * s + Bounded(run.in[2][t][n]) * (d * x);
          y = y + s * Bounded(run.in[3][t][n]);
        }
      }
    }
    return out;
  }
};

/// Calls check(entry, case) for the kernels of both.
template <class Check>
void each_scan(Check check) {
  each_kernel(Op::kSsmScan, [&](const KernelEntry& entry) { check(entry, Ssm(6, 2, 9, 5, true).run); });
  each_kernel(Op::kSelectiveScan,
              [&](const KernelEntry& entry) { check(entry, Selective(130, 9, true).run); });
}

}  // namespace

TEST("Mamba-2's scan is within its roundings of a plain loop, for heads, groups and widths of any numbers",
     "[ssm_scan]") {
  check_heads_of_any_numbers<Ssm>(Op::kSsmScan);
}

TEST("Mamba-2's time steps keep to their limits", "[ssm_scan]") {
  each_kernel(Op::kSsmScan, [](const KernelEntry& entry) {
    const Ssm c(4, 2, 8, 8, true, 0.7f, 0.9f);
    check_bounded(c.run.run(entry, kScanRows), c.exact());
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
  each_scan([](const KernelEntry& entry, const auto& run) { check_calls_of_any_size(entry, run); });
}

TEST("scans of rows of several sequences in any mix, and in lanes, are each its own",
     "[ssm_scan][selective_scan]") {
  each_scan([](const KernelEntry& entry, const auto& run) { check_mixed_sequences(entry, run); });
}

TEST("a NaN in a head's time step stays in that head", "[ssm_scan]") {
  each_kernel(Op::kSsmScan, [](const KernelEntry& entry) {
    const Ssm c(4, 2, 8, 3, true);
    const GuardedRows expected = c.run.run(entry, kScanRows);
    c.run.in[1][2][1] = NAN;
    const GuardedRows out = c.run.run(entry, kScanRows);
    for (uint32_t t = 0; t < kScanRows; ++t) {
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

}  // namespace mote::testing
