// SPDX-License-Identifier: Apache-2.0
//
// The gated delta rule, against a plain loop of doubles that bounds what f32 rounds.
#include "tests/support/bounded.h"
#include "tests/support/recurrent_case.h"

namespace mote::testing {
namespace {

constexpr uint32_t kDeltaRows = 9;
constexpr float kScale = 0.35f, kEps = 1e-6f;

struct Delta {
  Delta(uint32_t head_count, uint32_t key_head_count, uint32_t e, uint32_t f, bool with_bias)
      : heads(head_count), key_heads(key_head_count), has_bias(with_bias) {
    Random random(head_count * 64 + e);
    run.fill_operands(kDeltaRows, {key_heads * e, key_heads * e, heads * f, heads, heads}, random);
    for (uint32_t h = 0; h < heads; ++h) {
      decay.push_back(random.uniform(-1.5f, -0.01f));
      dt_bias.push_back(random.uniform(-1.0f, 1.0f));
    }
    run.heads = heads;
    run.rows = e;
    run.cols = f;
    run.out_width = heads * f;
    run.args = [this](const FixedStateView& state, const SequenceRows& rows, const std::vector<ConstRows>& in,
                      Rows out) {
      return GatedDeltaArgs{
          state, rows,  kOneLane, key_heads, kScale, kEps, decay.data(), has_bias ? dt_bias.data() : nullptr,
          in[0], in[1], in[2],    in[3],     in[4],  out};
    };
  }
  Delta(const Delta&) = delete;

  std::vector<Bounded> normalised(uint32_t operand, uint32_t t, uint32_t head, double scale) const {
    std::vector<Bounded> all(run.rows);
    const float* const in = run.in[operand][t] + head * run.rows;
    Bounded sum;
    for (uint32_t e = 0; e < run.rows; ++e) sum = sum + Bounded(in[e]) * Bounded(in[e]);
    const Bounded divisor = square_root(sum + Bounded(kEps));
    for (uint32_t e = 0; e < run.rows; ++e) all[e] = Bounded(scale) * (Bounded(in[e]) / divisor);
    return all;
  }

  std::vector<std::vector<Bounded>> exact() const {
    const uint32_t keys = run.rows, width = run.cols;
    std::vector<Bounded> states(size_t{heads} * keys * width);
    std::vector<std::vector<Bounded>> out(kDeltaRows, std::vector<Bounded>(size_t{heads} * width));
    for (uint32_t t = 0; t < kDeltaRows; ++t) {
      for (uint32_t h = 0; h < heads; ++h) {
        Bounded* const s = &states[size_t{h} * keys * width];
        const uint32_t key_head = h / (heads / key_heads);
        const auto q = normalised(0, t, key_head, double{kScale}), k = normalised(1, t, key_head, 1.0);
        const Bounded a = exponential(
            Bounded(decay[h]) * softplus(Bounded(run.in[3][t][h]) + Bounded(has_bias ? dt_bias[h] : 0.0f)));
        const Bounded w = Bounded(1.0) / (Bounded(1.0) + exponential(-double{run.in[4][t][h]}));
        for (uint32_t f = 0; f < width; ++f) {
          Bounded found, y;
          for (uint32_t e = 0; e < keys; ++e) {
            s[e * width + f] = s[e * width + f] * a;
            found = found + s[e * width + f] * k[e];
          }
          const Bounded change = w * (Bounded(run.in[2][t][h * width + f]) - found);
          for (uint32_t e = 0; e < keys; ++e) {
            s[e * width + f] = s[e * width + f] + k[e] * change;
            y = y + s[e * width + f] * q[e];
          }
          out[t][h * width + f] = y;
        }
      }
    }
    return out;
  }

  uint32_t heads, key_heads;
  bool has_bias;
  std::vector<float> decay, dt_bias;
  RecurrentCase<GatedDeltaArgs> run;
};

}  // namespace

TEST("the gated delta rule is within its roundings of a plain loop, for heads and widths of any numbers",
     "[gated_delta]") {
  check_heads_of_any_numbers<Delta>(Op::kGatedDelta);
}

TEST("the gated delta rule has the same bits in calls of any size and any split of its units",
     "[gated_delta]") {
  each_kernel(Op::kGatedDelta,
              [](const KernelEntry& entry) { check_calls_of_any_size(entry, Delta(6, 2, 9, 5, true).run); });
}

TEST("rows of several sequences in any mix, and in lanes, follow the delta rule each with its own state",
     "[gated_delta]") {
  each_kernel(Op::kGatedDelta,
              [](const KernelEntry& entry) { check_mixed_sequences(entry, Delta(6, 2, 9, 5, true).run); });
}

TEST("keys of zeros change no state, and a value stored by a gate of 1 is found by its key",
     "[gated_delta]") {
  each_kernel(Op::kGatedDelta, [](const KernelEntry& entry) {
    Delta c(1, 1, 4, 3, false);
    for (uint32_t t = 0; t < kDeltaRows; ++t) {
      for (uint32_t e = 0; e < 4; ++e) c.run.in[0][t][e] = c.run.in[1][t][e] = e == 2 ? 1.0f : 0.0f;
      c.run.in[3][t][0] = -100.0f;  // no time passes
      c.run.in[4][t][0] = 100.0f;   // all of the change
      if (t != 0) c.run.in[1][t][2] = 0.0f;
    }
    const GuardedRows out = c.run.run(entry, kDeltaRows);
    for (uint32_t t = 0; t < kDeltaRows; ++t) {
      for (uint32_t f = 0; f < 3; ++f) TEST_ASSERT_FLOAT_WITHIN(1e-6, kScale * c.run.in[2][0][f], out[t][f]);
    }
  });
}

}  // namespace mote::testing
