// SPDX-License-Identifier: Apache-2.0
//
// mote textbook: a walk through one transformer block with numbers small enough for paper, computed by the
// kernels. The numbers are those of tests/golden/worked_examples.json.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/base/error.h"
#include "kernels/dispatch.h"
#include "runtime/isa.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

using Matrix = std::vector<std::vector<float>>;

const Matrix kX = {{1, 0, 1, 0}, {0, 1, 0, 1}, {1, 1, 0, 0}};
const Matrix kQueries = {{1, 0}, {0, 1}, {1, 0}, {0, 1}}, kKeys = {{0, 1}, {1, 0}, {0, 1}, {1, 0}},
             kValues = {{1, 1}, {0, 0}, {0, 1}, {1, 0}};
const Matrix kResidual = {{1.0f, 0.5f, -0.5f, 0.2f}, {0.8f, -0.3f, 0.6f, 0.1f}, {-0.2f, 0.7f, 0.3f, -0.4f}};
const Matrix kBranch = {{0.2f, 0.1f, 0.3f, -0.1f}, {0.1f, 0.2f, -0.2f, 0.1f}, {0.3f, -0.1f, 0.1f, 0.2f}};
const Matrix kUp = {{1, 0}, {0, 1}, {0.5f, -0.5f}}, kDown = {{1, 0, 0.5f}, {0, 1, -0.5f}};
const Matrix kTwoWords = {{3, 4}, {4, 2}};

struct Step {
  const char* name;  // of the JSON object
  std::string title;
  Matrix rows;
};

/// Aligned memory of zeros.
class Floats {
 public:
  explicit Floats(size_t count)
      : values_(static_cast<float*>(operator new (bytes(count), std::align_val_t{kAlignment}))) {
    std::memset(values_.get(), 0, bytes(count));
  }
  float* data() const { return values_.get(); }

 private:
  struct Free {
    void operator()(float* values) const { operator delete (values, std::align_val_t{kAlignment}); }
  };
  static size_t bytes(size_t count) { return (count + 1) * sizeof(float); }
  std::unique_ptr<float, Free> values_;
};

/// Rows of a matrix for kernels.
class RowBlock {
 public:
  RowBlock(size_t rows, size_t width) : rows_(rows), width_(width), floats_(rows * width) {}
  explicit RowBlock(const Matrix& matrix) : RowBlock(matrix.size(), matrix[0].size()) {
    for (size_t row = 0; row < rows_; ++row) std::copy_n(matrix[row].data(), width_, view()[row]);
  }
  Rows view() const { return {floats_.data(), width_ * sizeof(float)}; }
  ConstRows const_view() const { return {floats_.data(), width_ * sizeof(float)}; }
  Matrix matrix() const {
    Matrix result;
    for (size_t row = 0; row < rows_; ++row) result.emplace_back(view()[row], view()[row] + width_);
    return result;
  }

 private:
  size_t rows_, width_;
  Floats floats_;
};

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix[0].size(), std::vector<float>(matrix.size()));
  for (size_t row = 0; row < matrix.size(); ++row) {
    for (size_t column = 0; column < matrix[0].size(); ++column) result[column][row] = matrix[row][column];
  }
  return result;
}

class Textbook {
 public:
  explicit Textbook(Isa isa) : isa_(isa) {}

  std::vector<Step> steps() const {
    const Matrix q = linear(kX, transposed(kQueries)), k = linear(kX, transposed(kKeys)),
                 v = linear(kX, transposed(kValues));
    const Matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    const Matrix sum = linear(kBranch, identity, Activation::none, &kResidual);
    const Matrix hidden = linear(kTwoWords, kUp, Activation::relu);
    return {{"x", "x: three tokens of four numbers", kX},
            {"q", "q = x Wq", q},
            {"k", "k = x Wk", k},
            {"v", "v = x Wv", v},
            {"weights", "weights = softmax(q k^T / sqrt 2): every token sees all three", weights(q, k)},
            {"output", "weights v", attend(q, k, v)},
            {"residual", "residual: another x and what its attention gave, added", sum},
            {"layer_norm", "layer norm of the first of these rows: (x - mean) / sigma", norm({sum[0]})},
            {"hidden", "feed-forward of (3, 4) and (4, 2): h = relu(W1 x)", hidden},
            {"ffn", "y = W2 h", linear(hidden, kDown)}};
  }

 private:
  template <class Args>
  void run(Op op, const Args& args, uint32_t units, const ScratchShape& shape = {}) const {
    const KernelEntry* entry = find_kernel(op, DType::f32, DType::f32, isa_);
    const Floats scratch(static_cast<size_t>(entry->scratch_bytes(shape)) / sizeof(float));
    kernel_cast<Args>(entry)(args, {0, units}, scratch.data());
  }

  /// activation(x weight^T) + residual; weight [outputs, inputs], at most a panel.
  Matrix linear(const Matrix& x, const Matrix& weight, Activation activation = Activation::none,
                const Matrix* residual = nullptr) const {
    const size_t inputs = weight[0].size();
    const Floats panel(inputs * kPanelRows);
    for (size_t row = 0; row < weight.size(); ++row) {
      for (size_t i = 0; i < inputs; ++i) panel.data()[i * kPanelRows + row] = weight[row][i];
    }
    const RowBlock in(x), added(residual == nullptr ? x : *residual);
    const RowBlock out(x.size(), weight.size());
    LinearArgs args = {};
    args.weight = panel.data();
    args.activation = activation;
    args.rows = static_cast<uint32_t>(x.size());
    args.outputs = static_cast<uint32_t>(weight.size());
    args.inputs = static_cast<uint32_t>(inputs);
    args.in = in.const_view().data;
    args.in_stride_bytes = in.const_view().stride_bytes;
    args.out = out.view();
    if (residual != nullptr) args.residual = added.const_view();
    run(Op::kLinear, args, 1, {x.size(), inputs, 0, 0, 0});
    return out.matrix();
  }

  /// Computes the attention of one head, each query over all keys.
  Matrix attend(const Matrix& q, const Matrix& k, const Matrix& v) const {
    constexpr uint32_t kPositions = 16;
    const auto rows = static_cast<uint32_t>(q.size()), key_dim = static_cast<uint32_t>(k[0].size()),
               value_dim = static_cast<uint32_t>(v[0].size());
    const Floats keys(kPositions * key_dim), values(kPositions * value_dim);
    for (size_t p = 0; p < k.size(); ++p) {
      for (size_t e = 0; e < key_dim; ++e) keys.data()[e * kPositions + p] = k[p][e];
      std::copy(v[p].begin(), v[p].end(), values.data() + p * value_dim);
    }
    const std::vector<int32_t> positions = {0, 1, 2}, last_seen(rows, 2), sequences(rows, 0);
    const uint32_t page = 0;
    const RowBlock queries(q), out(rows, value_dim);
    AttentionArgs args = {};
    args.cache = {keys.data(), values.data(), &page, 1, kPositions, 1, key_dim, value_dim};
    args.heads = 1;
    args.scale = 1.0f / std::sqrt(static_cast<float>(key_dim));
    args.rows = rows;
    args.positions = positions.data();
    args.last_seen = last_seen.data();
    args.sequences = sequences.data();
    args.q = queries.const_view();
    args.out = out.view();
    run(Op::kAttention, args, 1, {0, 0, 1, key_dim, value_dim});
    return out.matrix();
  }

  /// Attention to the rows of the identity gives its weights.
  Matrix weights(const Matrix& q, const Matrix& k) const {
    Matrix rows = attend(q, k, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}});
    for (std::vector<float>& row : rows) row.resize(k.size());
    return rows;
  }

  Matrix norm(const Matrix& x) const {
    const size_t width = x[0].size();
    const RowBlock in(x), out(x.size(), width), gamma(Matrix{std::vector<float>(kPanelRows, 1.0f)}),
        beta(1, kPanelRows);
    NormArgs args = {};
    args.kind = NormKind::layer;
    args.eps = 1e-6f;
    args.groups = 1;
    args.width = static_cast<uint32_t>(width);
    args.weight = gamma.const_view().data;
    args.bias = beta.const_view().data;
    args.in = in.const_view();
    args.out = out.view();
    run(Op::kNorm, args, static_cast<uint32_t>(x.size()));
    return out.matrix();
  }

  Isa isa_;
};

void print_steps(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    print("{}\n", step.title);
    for (const std::vector<float>& row : step.rows) {
      for (const float value : row) print("{:8.3f}", value == 0.0f ? 0.0f : value);  // no -0
      print("\n");
    }
  }
}

void textbook(bool json) {
  const mote_isa asked = mote_platform_default().isa;
  Isa isa = best_isa();
  if (asked != MOTE_ISA_AUTO && (!isa_from_public(asked, &isa) || !isa_available(isa)))
    convert::fail("MOTE_ISA names no kernel family of this CPU; the best here are {}", isa_name(best_isa()));
  const std::vector<Step> steps = Textbook(isa).steps();
  if (!json) return print_steps(steps);
  nlohmann::json object = nlohmann::json::object();
  for (const Step& step : steps) object[step.name] = step.rows;
  print_json(object);
}

}  // namespace

void add_textbook(CommandLine& line) {
  const auto json = std::make_shared<bool>(false);
  Command command =
      line.command("textbook", "Compute a textbook's walk through one transformer block, step by step");
  command.flag("--json", json.get(), "Print an object with the rows of each step");
  command.callback([json] { textbook(*json); });
}

}  // namespace mote::cli
