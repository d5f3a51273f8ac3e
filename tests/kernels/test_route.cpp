// SPDX-License-Identifier: Apache-2.0
//
// Which experts are chosen, and their weights within 2^-20 of their formulas in double precision.
#include <algorithm>
#include <numeric>

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

struct RouteCase {
  Scores scores;
  uint32_t experts, chosen, groups, groups_chosen;
  bool normalized, biased;
};

std::vector<double> exact_scores(const RouteCase& c, const float* logits) {
  std::vector<double> s(c.experts);
  double sum = 0.0;
  for (size_t e = 0; e < c.experts; ++e) {
    const double x = static_cast<double>(logits[e]);
    s[e] = c.scores == Scores::sigmoid ? 1.0 / (1.0 + exp(-x)) : c.scores == Scores::softmax ? exp(x) : x;
    sum += s[e];
  }
  if (c.scores == Scores::softmax) {
    for (double& score : s) score /= sum;
  }
  return s;
}

/// The numbers of the `count` largest of those listed.
std::vector<size_t> largest(std::vector<size_t> of, size_t count, const std::vector<double>& values) {
  std::stable_sort(of.begin(), of.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  of.resize(count);
  return of;
}

std::vector<double> exact_weights(const RouteCase& c, const float* logits, const float* bias, double eps,
                                  double factor) {
  const std::vector<double> s = exact_scores(c, logits);
  std::vector<double> by(s), of_groups(c.groups);
  for (size_t e = 0; e < c.experts; ++e) by[e] += c.biased ? static_cast<double>(bias[e]) : 0.0;
  const size_t size = c.experts / c.groups;
  std::vector<size_t> groups(c.groups), allowed;
  std::iota(groups.begin(), groups.end(), size_t{0});
  for (size_t g = 0; g < c.groups; ++g) {
    std::vector<size_t> members(size);
    std::iota(members.begin(), members.end(), g * size);
    for (const size_t e : largest(members, std::min<size_t>(2, size), by)) of_groups[g] += by[e];
  }
  for (const size_t g : largest(groups, c.groups_chosen, of_groups)) {
    for (size_t e = g * size; e < (g + 1) * size; ++e) allowed.push_back(e);
  }
  std::sort(allowed.begin(), allowed.end());
  std::vector<double> out(c.experts, 0.0);
  double sum = eps, exponentials = 0.0;
  for (const size_t e : largest(allowed, c.chosen, by)) out[e] = s[e];
  if (c.scores == Scores::softmax_of_chosen) {
    for (const double w : out) exponentials += w != 0.0 ? exp(w) : 0.0;
    for (double& w : out) w = w != 0.0 ? exp(w) / exponentials : 0.0;
  }
  for (const double w : out) sum += w;
  for (double& w : out) w = (c.normalized ? w / sum : w) * factor;
  return out;
}

}  // namespace

TEST("the chosen experts and their weights are those of the formula, for every kind of score", "[route]") {
  each_kernel(Op::kRoute, [](const KernelEntry& entry) {
    for (const RouteCase& c : {RouteCase{Scores::softmax, 8, 2, 1, 1, true, false},
                               RouteCase{Scores::softmax, 60, 4, 1, 1, false, false},
                               RouteCase{Scores::sigmoid, 32, 4, 1, 1, true, true},
                               RouteCase{Scores::sigmoid, 256, 8, 8, 4, true, true},
                               RouteCase{Scores::softmax_of_chosen, 5, 3, 1, 1, false, false},
                               RouteCase{Scores::softmax, 1, 1, 1, 1, true, false},
                               RouteCase{Scores::sigmoid, 1024, 1024, 1, 1, false, true}}) {
      constexpr uint32_t kRows = 9;
      CAPTURE(static_cast<int>(c.scores), c.experts, c.chosen, c.groups);
      Random random(c.experts);
      GuardedRows logits(kRows, c.experts, Edge::end), out(kRows, c.experts, Edge::end);
      logits.fill([&](size_t, size_t) { return random.uniform(-4.0f, 4.0f); });
      std::vector<float> bias(c.experts);
      for (float& b : bias) b = random.uniform(-0.5f, 0.5f);
      const float eps = 1e-6f, factor = 2.5f;
      run_kernel(entry,
                 RouteArgs{c.scores, c.experts, c.chosen, c.groups, c.groups_chosen, c.normalized, eps,
                           factor, c.biased ? bias.data() : nullptr, logits.const_view(), out.view()},
                 kRows);
      for (size_t t = 0; t < kRows; ++t) {
        const std::vector<double> exact =
            exact_weights(c, logits[t], bias.data(), static_cast<double>(eps), static_cast<double>(factor));
        for (size_t e = 0; e < c.experts; ++e) {
          CAPTURE(t, e);
          TEST_ASSERT_EQUAL(exact[e] != 0.0, out[t][e] != 0.0f);
          TEST_ASSERT_DOUBLE_WITHIN(0x1p-20 * fabs(exact[e]), exact[e], static_cast<double>(out[t][e]));
        }
      }
    }
  });
}

TEST("so many experts are chosen whatever the logits are, each with a weight that is not 0", "[route]") {
  each_kernel(Op::kRoute, [](const KernelEntry& entry) {
    constexpr uint32_t kExperts = 6, kChosen = 3;
    const std::vector<std::vector<float>> rows = {{0, 0, 0, 0, 0, 0},
                                                  {NAN, NAN, NAN, NAN, NAN, NAN},
                                                  {NAN, 1, NAN, 2, NAN, 3},
                                                  {-INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, -INFINITY},
                                                  {INFINITY, 0, 0, 0, 0, INFINITY},
                                                  {-200, -300, 500, -400, -500, -600}};
    for (const Scores scores : {Scores::softmax, Scores::sigmoid, Scores::softmax_of_chosen}) {
      GuardedRows logits(rows.size(), kExperts, Edge::end), out(rows.size(), kExperts, Edge::end);
      logits.fill([&](size_t t, size_t e) { return rows[t][e]; });
      run_kernel(entry,
                 RouteArgs{scores, kExperts, kChosen, 1, 1, true, 0.0f, 1.0f, nullptr, logits.const_view(),
                           out.view()},
                 static_cast<uint32_t>(rows.size()));
      for (size_t t = 0; t < rows.size(); ++t) {
        CAPTURE(static_cast<int>(scores), t);
        TEST_ASSERT_EQUAL_INT(kChosen,
                              std::count_if(out[t], out[t] + kExperts, [](float w) { return w != 0.0f; }));
      }
      if (scores == Scores::softmax) continue;  // of which a NaN is in all
      TEST_ASSERT_TRUE(out[2][1] > 0.0f && out[2][3] > 0.0f && out[2][5] > 0.0f);
    }
  });
}

}  // namespace mote::testing
