// SPDX-License-Identifier: Apache-2.0
//
// The printed numbers of golden/worked_examples.json, computed by every kernel, within the rounding of the
// print.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/kernel_test.h"

namespace mote::testing {
namespace {

using Json = nlohmann::json;
using Matrix = std::vector<std::vector<float>>;

constexpr double kPrinted = 0.006;

const Json& examples() {
  static const Json json = Json::parse(std::ifstream(MOTE_SOURCE_DIR "/tests/golden/worked_examples.json"));
  return json;
}

GuardedRows rows_of(const Matrix& matrix) {
  GuardedRows rows(matrix.size(), matrix[0].size(), Edge::end);
  rows.fill([&](size_t t, size_t i) { return matrix[t][i]; });
  return rows;
}

void check_printed(const Matrix& expected, const GuardedRows& actual) {
  check_within(
      actual, [&](size_t t, size_t i) { return static_cast<double>(expected[t][i]); },
      [](size_t, size_t) { return kPrinted; });
}

Matrix transposed(const Matrix& m) {
  Matrix result(m[0].size(), std::vector<float>(m.size()));
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t j = 0; j < m[0].size(); ++j) result[j][i] = m[i][j];
  }
  return result;
}

/// activation(x weight^T) + residual; weight [N, K].
GuardedRows linear(const KernelEntry& entry, const GuardedRows& x, const Matrix& weight,
                   Activation activation = Activation::none, const GuardedRows* residual = nullptr) {
  const size_t inputs = weight[0].size();
  const GuardedBuffer panel(packed_bytes(DType::f32, weight.size(), inputs), Edge::end);
  memset(panel.data(), 0, panel.bytes());
  for (size_t n = 0; n < weight.size(); ++n) {
    for (size_t k = 0; k < inputs; ++k) panel.data<float>()[k * kPanelRows + n] = weight[n][k];
  }
  GuardedRows out(x.rows(), weight.size(), Edge::end);
  LinearArgs args = {};
  args.weight = panel.data();
  args.activation = activation;
  args.rows = static_cast<uint32_t>(x.rows());
  args.outputs = static_cast<uint32_t>(weight.size());
  args.inputs = static_cast<uint32_t>(inputs);
  args.in = x.const_view().data;
  args.in_stride_bytes = x.const_view().stride_bytes;
  args.out = out.view();
  if (residual != nullptr) args.residual = residual->const_view();
  run_kernel(entry, args, 1, Split::whole, linear_scratch(entry, x.rows(), inputs));
  return out;
}

template <class Check>
void each_f32_kernel(Op op, Check check) {
  each_kernel(op, [&](const KernelEntry& entry) {
    if (entry.a == DType::f32 && entry.b == DType::f32) check(entry);
  });
}

}  // namespace

TEST("projections of three tokens give the printed queries, keys and values", "[worked]") {
  const Json& example = examples()["self_attention"];
  const GuardedRows x = rows_of(example["x"]);
  each_f32_kernel(Op::kLinear, [&](const KernelEntry& entry) {
    for (const char* name : {"q", "k", "v"}) {
      const Matrix weight = example[std::string("w") + name];
      check_printed(example[name], linear(entry, x, transposed(weight)));
    }
  });
}

TEST("attention of three tokens to each other gives the printed mixtures", "[worked]") {
  // Without a mask every query sees all three keys.
  const Json& example = examples()["self_attention"];
  const Matrix keys = example["k"], values = example["v"];
  GuardedBuffer key_cache(2 * 16 * 4, Edge::end), value_cache(16 * 2 * 4, Edge::end);
  memset(key_cache.data(), 0xFF, key_cache.bytes());
  memset(value_cache.data(), 0xFF, value_cache.bytes());
  for (size_t p = 0; p < 3; ++p) {
    for (size_t e = 0; e < 2; ++e) {
      key_cache.data<float>()[e * 16 + p] = keys[p][e];
      value_cache.data<float>()[p * 2 + e] = values[p][e];
    }
  }
  const int32_t positions[] = {0, 1, 2}, last_seen[] = {2, 2, 2}, sequences[] = {0, 0, 0};
  const GuardedRows q = rows_of(example["q"]);
  each_f32_kernel(Op::kAttention, [&](const KernelEntry& entry) {
    GuardedRows out(3, 2, Edge::end);
    const uint32_t page = 0;
    const AttentionArgs args = {{key_cache.data(), value_cache.data(), &page, 1, 16, 1, 2, 2},
                                1,
                                0,
                                1.0f / sqrtf(2.0f),
                                nullptr,
                                0,
                                3,
                                positions,
                                last_seen,
                                sequences,
                                q.const_view(),
                                out.view(),
                                0,
                                nullptr,
                                ScoreKind::scaled,
                                0.0f,
                                nullptr,
                                nullptr,
                                0,
                                {},
                                false,
                                nullptr,
                                nullptr,
                                0,
                                0,
                                0.0f,
                                0,
                                nullptr,
                                false,
                                0,
                                nullptr,
                                nullptr};
    run_kernel(entry, args, 1, Split::whole, attention_scratch(entry, 1, 2, 2));
    check_printed(example["output"], out);

    // The printed weights: the same with the identity for values, a column at a time.
    for (uint32_t shown = 0; shown < 3; ++shown) {
      GuardedBuffer indicator(16 * 2 * 4, Edge::end);
      memset(indicator.data(), 0, indicator.bytes());
      indicator.data<float>()[shown * 2] = 1.0f;
      AttentionArgs weights = args;
      weights.cache.values = indicator.data();
      run_kernel(entry, weights, 1, Split::whole, attention_scratch(entry, 1, 2, 2));
      for (size_t t = 0; t < 3; ++t)
        TEST_ASSERT_FLOAT_WITHIN(kPrinted, example["weights"][t][shown].get<float>(), out[t][0]);
    }
  });
}

TEST("the residual of a linear gives the printed sum", "[worked]") {
  const Json& example = examples()["residual"];
  const GuardedRows x = rows_of(example["x"]), attention = rows_of(example["attention"]);
  const Matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  each_f32_kernel(Op::kLinear, [&](const KernelEntry& entry) {
    check_printed(example["output"], linear(entry, attention, identity, Activation::none, &x));
  });
}

TEST("layer norm gives the printed row in both conventions of eps", "[worked]") {
  const Json& example = examples()["layer_norm"];
  const std::vector<float> row = example["x"];
  const std::vector<double> exact = example["exact"];
  const GuardedRows in = rows_of({row});
  const Matrix padded_ones = {std::vector<float>(16, 1.0f)}, padded_zeros = {std::vector<float>(16, 0.0f)};
  const GuardedRows gamma = rows_of(padded_ones), beta = rows_of(padded_zeros);
  each_f32_kernel(Op::kNorm, [&](const KernelEntry& entry) {
    // eps is negligible at 1e-6. At 0.5 the conventions differ: sqrt(0.282 + 0.5) = 0.884, sqrt(0.282) + 0.5
    // = 1.031.
    for (const float eps : {1e-6f, 0.5f}) {
      for (const bool outside : {false, true}) {
        GuardedRows out(1, 4, Edge::end);
        run_kernel(
            entry,
            NormArgs{NormKind::layer, outside, eps, 1, 4, gamma[0], beta[0], in.const_view(), out.view()}, 1);
        const double sigma = sqrt(0.281875), e = static_cast<double>(eps);
        const double divisor = outside ? sigma + e : sqrt(sigma * sigma + e);
        for (size_t i = 0; i < 4; ++i) {
          TEST_ASSERT_FLOAT_WITHIN(0.001, exact[i] * sigma / divisor, static_cast<double>(out[0][i]));
        }
        if (eps < 0.1f) check_printed({example["output"].get<std::vector<float>>()}, out);
      }
    }
  });
}

TEST("the feed-forward cases give the printed hidden and output rows", "[worked]") {
  const Json& example = examples()["ffn"];
  each_f32_kernel(Op::kLinear, [&](const KernelEntry& entry) {
    for (const Json& ffn_case : example["cases"]) {
      const Matrix x = {ffn_case["x"].get<std::vector<float>>()};
      const GuardedRows h = linear(entry, rows_of(x), example["w1"], Activation::relu);
      check_printed({ffn_case["h"].get<std::vector<float>>()}, h);
      check_printed({ffn_case["y"].get<std::vector<float>>()}, linear(entry, h, example["w2"]));
    }
  });
}

}  // namespace mote::testing
