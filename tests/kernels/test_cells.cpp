// SPDX-License-Identifier: Apache-2.0
//
// Recurrent cells, linear attention and sines, against plain loops of doubles that bound what f32 rounds.
#include <algorithm>

#include "tests/support/bounded.h"
#include "tests/support/recurrent_case.h"

namespace mote::testing {
namespace {

constexpr uint32_t kTexts = 9;  // rows of a text
using BoundedRows = std::vector<std::vector<Bounded>>;

std::vector<float> uniform_numbers(Random& random, size_t count, float most) {
  std::vector<float> all(count);
  for (float& one : all) one = random.uniform(-most, most);
  return all;
}

/// Its slope is at most 1.
Bounded hyperbolic_tangent(const Bounded& x) { return Bounded::rounded(tanh(x.value), x.error, 2); }
Bounded logistic(const Bounded& x) { return Bounded(1) / (Bounded(1) + exponential(Bounded(0) - x)); }

struct Cell {
  Cell(CellKind of, uint32_t width, bool with_bias) : kind(of), has_bias(with_bias) {
    Random random(width * 8 + gates_of(kind));
    const uint32_t all = gates_of(kind) * width;
    run.in.emplace_back(kTexts, all, Edge::end);
    run.in[0].fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
    weight = uniform_numbers(random, size_t{width} * all, 0.5f);
    bias = uniform_numbers(random, all, 1.0f);
    run.heads = 1;
    run.rows = kind == CellKind::lstm ? 2 : 1;
    run.cols = run.out_width = width;
    run.args = [this](const FixedStateView& state, const SequenceRows& rows, const std::vector<ConstRows>& in,
                      Rows out) {
      return RecurrentCellArgs{state, rows, kOneLane, kind, weight.data(), has_bias ? bias.data() : nullptr,
                               in[0], out};
    };
    run.value_dim = all;
  }
  Cell(const Cell&) = delete;

  BoundedRows exact() const {
    const uint32_t width = run.cols, all = gates_of(kind) * width;
    std::vector<Bounded> h(width), c(width);
    BoundedRows out;
    for (uint32_t t = 0; t < kTexts; ++t) {
      std::vector<Bounded> g(all);
      for (uint32_t i = 0; i < all; ++i) {
        g[i] = has_bias ? bias[i] : 0.0f;
        for (uint32_t e = 0; e < width; ++e) g[i] = g[i] + h[e] * Bounded(weight[size_t{e} * all + i]);
      }
      const auto x = [&](uint32_t gate, uint32_t i) { return Bounded(run.in[0][t][gate * width + i]); };
      const auto sum = [&](uint32_t gate, uint32_t i) { return x(gate, i) + g[gate * width + i]; };
      for (uint32_t i = 0; i < width; ++i) {
        if (kind == CellKind::rnn) h[i] = hyperbolic_tangent(sum(0, i));
        if (kind == CellKind::lstm) {
          c[i] = logistic(sum(1, i)) * c[i] + logistic(sum(0, i)) * hyperbolic_tangent(sum(2, i));
          h[i] = logistic(sum(3, i)) * hyperbolic_tangent(c[i]);
        }
        if (kind == CellKind::gru) {
          const Bounded z = logistic(sum(1, i));
          const Bounded n = hyperbolic_tangent(x(2, i) + logistic(sum(0, i)) * g[2 * width + i]);
          h[i] = (Bounded(1) - z) * n + z * h[i];
        }
      }
      out.push_back(h);
    }
    return out;
  }

  CellKind kind;
  bool has_bias;
  std::vector<float> weight, bias;
  RecurrentCase<RecurrentCellArgs> run;
};

struct Linear {
  /// features 0: those of elu_plus_one.
  Linear(uint32_t head_count, uint32_t e, uint32_t f, uint32_t features)
      : heads(head_count),
        key_dim(e),
        map(features == 0 ? FeatureMap::elu_plus_one : FeatureMap::exponential) {
    Random random(heads * 64 + e + features);
    for (const uint32_t width : {heads * e, heads * e, heads * f}) {
      run.in.emplace_back(kTexts, width, Edge::end);
      run.in.back().fill([&](size_t, size_t) { return random.uniform(-2.0f, 2.0f); });
    }
    run.heads = heads;
    run.rows = features == 0 ? e : features;
    run.cols = f + 1;
    run.key_dim = std::max(run.rows, e);
    run.out_width = heads * f;
    projection = uniform_numbers(random, size_t{run.rows} * e, 1.0f);
    run.args = [this](const FixedStateView& state, const SequenceRows& rows, const std::vector<ConstRows>& in,
                      Rows out) { return args(state, rows, in, out, nullptr); };
  }
  Linear(const Linear&) = delete;

  LinearAttentionArgs args(const FixedStateView& state, const SequenceRows& rows,
                           const std::vector<ConstRows>& in, Rows out, const uint32_t* starts) const {
    const float* features = map == FeatureMap::exponential ? projection.data() : nullptr;
    return {state, rows,  kOneLane, starts != nullptr, starts, 0, map, key_dim, features, in[0],
            in[1], in[2], out};
  }

  std::vector<Bounded> phi(const float* z) const {
    std::vector<Bounded> all(run.rows);
    if (map == FeatureMap::elu_plus_one) {
      for (uint32_t e = 0; e < key_dim; ++e)
        all[e] = z[e] > 0 ? Bounded(z[e]) + Bounded(1) : exponential(z[e]);
      return all;
    }
    const Bounded divisor = square_root(square_root(key_dim));
    Bounded squares;
    for (uint32_t e = 0; e < key_dim; ++e) squares = squares + z[e] / divisor * (z[e] / divisor);
    for (uint32_t m = 0; m < run.rows; ++m) {
      Bounded dot;
      for (uint32_t e = 0; e < key_dim; ++e)
        dot = dot + Bounded(projection[size_t{m} * key_dim + e]) * (z[e] / divisor);
      all[m] = exponential(dot - Bounded(0.5) * squares) * (Bounded(1) / square_root(run.rows));
    }
    return all;
  }

  /// `whole`: every row sees all of them.
  BoundedRows exact(bool whole) const {
    const uint32_t width = run.cols - 1;
    BoundedRows out(kTexts, std::vector<Bounded>(size_t{heads} * width));
    for (uint32_t h = 0; h < heads; ++h) {
      BoundedRows state(run.rows, std::vector<Bounded>(run.cols));
      const auto add = [&](uint32_t t) {
        const std::vector<Bounded> key = phi(run.in[1][t] + h * key_dim);
        for (uint32_t m = 0; m < run.rows; ++m) {
          for (uint32_t f = 0; f <= width; ++f) {
            const Bounded v = f == width ? 1.0f : run.in[2][t][h * width + f];
            state[m][f] = state[m][f] + key[m] * v;
          }
        }
      };
      for (uint32_t t = 0; whole && t < kTexts; ++t) add(t);
      for (uint32_t t = 0; t < kTexts; ++t) {
        if (!whole) add(t);
        const std::vector<Bounded> query = phi(run.in[0][t] + h * key_dim);
        std::vector<Bounded> sums(run.cols);
        for (uint32_t m = 0; m < run.rows; ++m) {
          for (uint32_t f = 0; f <= width; ++f) sums[f] = sums[f] + query[m] * state[m][f];
        }
        for (uint32_t f = 0; f < width; ++f) out[t][h * width + f] = sums[f] / sums[width];
      }
    }
    return out;
  }

  uint32_t heads, key_dim;
  FeatureMap map;
  std::vector<float> projection;
  RecurrentCase<LinearAttentionArgs> run;
};

constexpr CellKind kCells[] = {CellKind::rnn, CellKind::lstm, CellKind::gru};

}  // namespace

TEST("a recurrent cell is within its roundings of a plain loop", "[recurrent_cell]") {
  each_kernel(Op::kRecurrentCell, [](const KernelEntry& entry) {
    for (const CellKind kind : kCells) {
      for (const uint32_t width : {1u, 7u, 33u}) {
        CAPTURE(static_cast<int>(kind), width);
        const Cell c(kind, width, width != 7);
        check_bounded(c.run.run(entry, 4), c.exact());
      }
    }
  });
}

TEST("linear attention is within its roundings of a plain loop, whichever its features",
     "[linear_attention]") {
  each_kernel(Op::kLinearAttention, [](const KernelEntry& entry) {
    for (const uint32_t features : {0u, 1u, 24u}) {
      for (const uint32_t width : {1u, 8u, 17u}) {
        CAPTURE(features, width);
        const Linear c(3, width, width + 2, features);
        check_bounded(c.run.run(entry, 4), c.exact(false));
      }
    }
  });
}

TEST("linear attention of whole sequences sums over all rows of each", "[linear_attention]") {
  each_kernel(Op::kLinearAttention, [](const KernelEntry& entry) {
    const Linear c(3, 8, 10, 24);
    const GuardedRows out(2 * kTexts, c.run.out_width, Edge::end);
    std::vector<GuardedRows> twice;
    std::vector<ConstRows> in;
    for (const GuardedRows& one : c.run.in) {
      twice.emplace_back(2 * kTexts, one.width(), Edge::end);
      twice.back().fill([&](size_t t, size_t i) { return one[t % kTexts][i]; });
      in.push_back(twice.back().const_view());
    }
    const uint32_t starts[] = {0, kTexts, 2 * kTexts};
    FixedStateView state{};
    state.heads = 3, state.rows = 24, state.cols = 11;
    ScratchShape shape{};
    shape.inputs = 1, shape.key_dim = 24, shape.value_dim = 11;
    for (const Split split : kSplits) {
      run_kernel(entry, c.args(state, {}, in, out.view(), starts), 6, split,
                 static_cast<size_t>(entry.scratch_bytes(shape)));
      BoundedRows expected = c.exact(true);
      const BoundedRows again = expected;
      expected.insert(expected.end(), again.begin(), again.end());
      check_bounded(out, expected);
    }
  });
}

TEST(
    "cells and linear attention have the same bits in calls of any size, and rows of several sequences in "
    "any mix are each its own",
    "[recurrent_cell][linear_attention]") {
  each_kernel(Op::kRecurrentCell, [](const KernelEntry& entry) {
    for (const CellKind kind : kCells) {
      const Cell c(kind, 21, true);
      check_calls_of_any_size(entry, c.run);
      check_mixed_sequences(entry, c.run);
    }
  });
  each_kernel(Op::kLinearAttention, [](const KernelEntry& entry) {
    for (const uint32_t features : {0u, 12u}) {
      const Linear c(2, 9, 7, features);
      check_calls_of_any_size(entry, c.run);
      check_mixed_sequences(entry, c.run);
    }
  });
}

TEST("attention by distances is within its roundings of a plain loop, with terms beyond the reach or none",
     "[shaw_attention]") {
  constexpr uint32_t kHeads = 2, kKeys = 5, kValues = 3;
  each_kernel(Op::kShawAttention, [](const KernelEntry& entry) {
    for (const uint32_t reach : {0u, 2u, 20u}) {
      for (const bool beyond : {false, true}) {
        CAPTURE(reach, beyond);
        Random random(reach + 7);
        const uint32_t rows = 2 * reach + 1;
        const std::vector<float> keys = uniform_numbers(random, size_t{rows} * kKeys, 1.0f),
                                 values = uniform_numbers(random, size_t{rows} * kValues, 1.0f);
        GuardedRows q(kTexts, kHeads * kKeys, Edge::end), k(kTexts, kHeads * kKeys, Edge::end),
            v(kTexts, kHeads * kValues, Edge::end), out(kTexts, kHeads * kValues, Edge::end);
        for (GuardedRows* one : {&q, &k, &v}) {
          one->fill([&](size_t, size_t) { return random.uniform(-1.5f, 1.5f); });
        }
        const uint32_t starts[] = {0, 2, kTexts};  // two sequences
        const float scale = 0.5f;
        const auto term = [&](int64_t i, int64_t j) {
          const int64_t r = reach + j - i, last = rows - 1;
          return beyond ? std::clamp<int64_t>(r, 0, last) : r < 0 || r > last ? -1 : r;
        };
        BoundedRows exact(kTexts, std::vector<Bounded>(kHeads * kValues));
        for (uint32_t i = 0; i < kTexts; ++i) {
          const uint32_t begin = i < 2 ? 0 : 2, end = i < 2 ? 2 : kTexts;
          for (uint32_t h = 0; h < kHeads; ++h) {
            std::vector<Bounded> scores;
            double most = -INFINITY;
            for (uint32_t j = begin; j < end; ++j) {
              const auto key_of = [&](int64_t r, uint32_t e) {
                return Bounded(keys[static_cast<size_t>(r) * kKeys + e]);
              };
              Bounded dot, of_distance;
              for (uint32_t e = 0; e < kKeys; ++e) {
                const Bounded one = q[i][h * kKeys + e];
                dot = dot + one * Bounded(k[j][h * kKeys + e]);
                if (term(i, j) >= 0) of_distance = of_distance + one * key_of(term(i, j), e);
              }
              scores.push_back(Bounded(scale) * (dot + of_distance));
              most = std::max(most, scores.back().value);
            }
            Bounded sum;
            std::vector<Bounded> weights, of_distances(rows), sums(kValues);
            for (const Bounded& score : scores) weights.push_back(exponential(score - Bounded(most)));
            for (uint32_t j = begin; j < end; ++j) {
              const Bounded weight = weights[j - begin];
              sum = sum + weight;
              if (term(i, j) >= 0) {
                Bounded& all = of_distances[static_cast<size_t>(term(i, j))];
                all = all + weight;
              }
              for (uint32_t e = 0; e < kValues; ++e)
                sums[e] = sums[e] + weight * Bounded(v[j][h * kValues + e]);
            }
            for (uint32_t r = 0; r < rows; ++r) {
              for (uint32_t e = 0; e < kValues; ++e)
                sums[e] = sums[e] + of_distances[r] * Bounded(values[size_t{r} * kValues + e]);
            }
            // The largest score's own error moves all weights alike, their sum too.
            for (uint32_t e = 0; e < kValues; ++e) exact[i][h * kValues + e] = sums[e] / sum;
          }
        }
        ScratchShape shape{};
        shape.rows = kTexts, shape.inputs = rows;
        for (const Split split : kSplits) {
          const ShawAttentionArgs args{
              kOneLane,       starts,         0,         kHeads,      kKeys,         kValues,
              scale,          beyond,         reach,     keys.data(), values.data(), q.const_view(),
              k.const_view(), v.const_view(), out.view()};
          run_kernel(entry, args, 2 * kHeads, split, static_cast<size_t>(entry.scratch_bytes(shape)));
          check_bounded(out, exact);
        }
      }
    }
  });
}

TEST("sines and cosines of the position are added in pairs or in halves", "[sines]") {
  each_kernel(Op::kSines, [](const KernelEntry& entry) {
    const int32_t positions[] = {0, 1, 77, 4000, 100000};
    const float frequencies[] = {1.0f, 0.1f, 0.003f};
    for (const bool halves : {false, true}) {
      for (const Split split : kSplits) {
        GuardedRows x(5, 6, Edge::end);
        x.fill([](size_t, size_t) { return 0.5f; });
        run_kernel(entry, SinesArgs{frequencies, 6, halves, positions, x.view()}, 5, split);
        check_within(
            x,
            [&](size_t t, size_t i) {
              const size_t pair = halves ? i % 3 : i / 2;
              const bool cosine = halves ? i >= 3 : i % 2 == 1;
              const volatile float angle = static_cast<float>(positions[t]) * frequencies[pair];
              const double a = static_cast<double>(angle);
              return 0.5 + (cosine ? cos(a) : sin(a));
            },
            [](size_t, size_t) { return 0x1p-22; });
      }
    }
  });
}

}  // namespace mote::testing
