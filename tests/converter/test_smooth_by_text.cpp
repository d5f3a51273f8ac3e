// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/smooth_by_text.h"

#include <cmath>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/build_transformer.h"
#include "converter/write_model.h"
#include "host/base/output_file.h"
#include "tests/support/files.h"
#include "tests/support/test_model.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using mote::DType;
namespace fs = std::filesystem;

namespace {

Graph graph_of(const Source& source, const std::string& type) {
  Config config(*source.config);
  const TransformerSpec spec = find_architecture(config).read(source, config);
  TensorSet tensors(source);
  return build_transformer(spec, TypePolicy(type, source, spec.is_encoder()), tensors);
}

/// A llama with a tokenizer whose linears have biases: two layers, 48 columns inside, those of `up` different
/// in size.
class BiasedLlama {
 public:
  BiasedLlama() : source_(read_source(written())) {
    for (int i = 0; i < 100; ++i) text_ += "A line of words, number " + std::to_string(i * i % 97) + ".\n";
  }
  const Source& source() const { return source_; }

  TextRun run(const Graph& graph) const {
    const TokenizerTables tables(*read_tokenizer(source_, false));
    return {graph, tables, text_, folder_ / "run", [](double) {}};
  }

  /// Logits after a text, of the graph stored and run.
  std::vector<float> logits(const Graph& graph) const {
    OutputFile file(folder_ / "model");
    write_model(graph, nullptr, file, [](double) {});
    const test::AlignedBytes bytes = test::read_file(file.temporary());
    const test::OpenModel model(bytes, 0);  // write_model gives no hashes
    const test::OpenSession session(model, test::small_options(model));
    const uint32_t vocab = model.info().vocab;
    return test::prefill(session.get(), test::some_ids(20, vocab), vocab);
  }

 private:
  fs::path written() const {
    mote::testing::TinyLlama model;
    model.config["vocab_size"] = 100;
    model.config["attention_bias"] = model.config["mlp_bias"] = true;
    model.add("model.embed_tokens.weight", {100, 32});
    model.add("lm_head.weight", {100, 32});
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
      for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                               "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
        const std::string linear = layer + name;
        const uint64_t rows = model.tensors.at(linear + ".weight").shape[0];
        model.add(linear + ".bias", {rows});
        if (!linear.ends_with("up_proj")) continue;
        for (const char* part : {".weight", ".bias"}) {
          std::vector<float>& values = model.tensors.at(linear + part).values;
          const size_t cols = values.size() / rows;
          for (size_t i = 0; i < values.size(); ++i) values[i] *= static_cast<float>(i / cols % 5 + 1);
        }
      }
    }
    model.write(folder_ / "model_directory");
    fs::copy(test::golden_folder() / "../tokenizers/small/tokenizer.json", folder_ / "model_directory");
    return folder_ / "model_directory";
  }

  const mote::testing::TempDirectory folder_;
  std::string text_;
  const Source source_;
};

const Weight& weight_of(const Graph& graph, const std::string& name) {
  for (const Weight& weight : graph.weights) {
    if (weight.name == name) return weight;
  }
  FAIL("no weight " << name);
  return graph.weights[0];
}

/// What is divided, in the graph's order: a norm or a matrix with the first of its rows.
std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const SmoothedInput& input : find_smoothed_inputs(graph)) {
    const int32_t weight = input.matrix < 0 ? input.vectors[0] : input.matrix;
    std::string name = graph.weights[static_cast<size_t>(weight)].name;
    if (input.matrix >= 0) name += "[" + std::to_string(input.first) + "]";
    names.push_back(std::move(name));
  }
  return names;
}

/// What names_of gives for all of the model.
std::vector<std::string> all_names() {
  return {"layer.0.attention_norm", "layer.0.ffn_norm", "layer.0.gate+up[48]",
          "layer.1.attention_norm", "layer.1.ffn_norm", "layer.1.gate+up[48]"};
}

std::vector<std::string> all_without(const std::vector<std::string>& left) {
  std::vector<std::string> names = all_names();
  for (const std::string& name : left) TEST_ASSERT_EQUAL_UINT64(1, std::erase(names, name));
  return names;
}

/// The place of the first node of this type.
template <class NodeType>
size_t first_of(const Graph& graph) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [](const Node& node) { return std::holds_alternative<NodeType>(node); });
  return static_cast<size_t>(found - graph.nodes.begin());
}

/// The graph with a node before that at `index`.
Graph with_node(Graph graph, size_t index, Node node) {
  graph.nodes.insert(graph.nodes.begin() + static_cast<ptrdiff_t>(index), std::move(node));
  return graph;
}

/// sqrt(a / w) over the geometric mean, to the nearest power of two, of sums of squares.
std::vector<float> expected_factors(const std::vector<double>& a, const std::vector<double>& w) {
  std::vector<double> logs;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    logs.push_back(std::log2(std::sqrt(std::sqrt(a[i]) / std::sqrt(w[i]))));
    sum += logs.back();
  }
  std::vector<float> factors;
  for (const double log : logs)
    factors.push_back(std::exp2(static_cast<float>(std::round(log - sum / static_cast<double>(a.size())))));
  return factors;
}

/// Sums of the squares of what the quantization `node` reads over the run's first 2048 tokens.
std::vector<double> activation_squares(TextRun& run, uint32_t node, size_t width) {
  std::vector<double> sums(width);
  run.run(2048, [&](uint32_t of, const float* data, uint32_t rows, size_t stride) {
    for (uint32_t row = 0; row < rows && of == node; ++row) {
      for (size_t k = 0; k < width; ++k)
        sums[k] += std::pow(static_cast<double>(data[row * stride + k]), 2.0);
    }
  });
  return sums;
}

std::vector<double> column_sums(const Source& source, const std::string& tensor) {
  const SourceTensor& matrix = source.tensors.at(tensor);
  std::vector<double> sums(matrix.cols());
  std::vector<float> row(matrix.cols());
  for (uint32_t r = 0; r < matrix.rows(); ++r) {
    read_row(matrix, r, row);
    for (size_t k = 0; k < row.size(); ++k) sums[k] += std::pow(static_cast<double>(row[k]), 2.0);
  }
  return sums;
}

bool varies(const std::vector<float>& values) {
  return std::any_of(values.begin(), values.end(), [&](float value) { return value != values[0]; });
}

}  // namespace

TEST("smoothing by text: norms and gated rows are found where matrices round them") {
  const BiasedLlama model;
  for (const char* type : {"q8g32", "q8c"}) {
    CAPTURE(type);
    TEST_ASSERT_TRUE(names_of(graph_of(model.source(), type)) == all_names());
  }
  // In fewer bits norms alone.
  TEST_ASSERT_TRUE(names_of(graph_of(model.source(), "q4g32")) ==
                   all_without({"layer.0.gate+up[48]", "layer.1.gate+up[48]"}));
  TEST_ASSERT_TRUE(names_of(graph_of(model.source(), "f32")).empty());
}

TEST("smoothing by text: in f32 the model stays what it is, to the bit") {
  const BiasedLlama model;
  Graph rounded = graph_of(model.source(), "q8g32"), exact = graph_of(model.source(), "f32");
  TextRun run = model.run(rounded);
  TEST_ASSERT_EQUAL_UINT64(6, smooth_by_text(rounded, run));
  const std::vector<float> expected = model.logits(exact);
  size_t changed = 0;
  for (Weight& weight : exact.weights) {
    const Weight& smoothed = weight_of(rounded, weight.name);
    changed +=
        varies(smoothed.row_scales) + varies(smoothed.column_scales) + (weight.values != smoothed.values);
    weight.row_scales = smoothed.row_scales;
    weight.column_scales = smoothed.column_scales;
    weight.values = smoothed.values;
  }
  // Of each layer: a bias, the rows and columns of gate and up, the columns of down at least.
  TEST_ASSERT_GREATER_OR_EQUAL(2u * 4, changed);
  const std::vector<float> actual = model.logits(exact);
  TEST_ASSERT_EQUAL_MEMORY(expected.data(), actual.data(), expected.size() * sizeof(float));
}

TEST("smoothing by text: factors are the formula's, and divide rows and biases of `up` alone") {
  const BiasedLlama model;
  Graph graph = graph_of(model.source(), "q8g32");
  const std::vector<float> old_bias = weight_of(graph, "layer.0.gate+up.bias").values;
  TextRun run = model.run(graph);
  const std::vector<SmoothedInput> inputs = find_smoothed_inputs(graph);
  const std::vector<float> s =
      expected_factors(activation_squares(run, *inputs.at(2).quantizations.begin(), 48),
                       column_sums(model.source(), "model.layers.0.mlp.down_proj.weight"));
  smooth_by_text(graph, run);
  TEST_ASSERT_TRUE(varies(s));
  TEST_ASSERT_TRUE(weight_of(graph, "layer.0.down").column_scales == s);
  TEST_ASSERT_TRUE(weight_of(graph, "layer.0.down").row_scales.empty());
  const std::vector<float>& bias = weight_of(graph, "layer.0.gate+up.bias").values;
  const std::vector<float>& rows = weight_of(graph, "layer.0.gate+up").row_scales;
  for (size_t row = 0; row < 96; ++row) {
    const float divisor = row < 48 ? 1.0f : s[row - 48];
    TEST_ASSERT_EQUAL_FLOAT(1.0f / divisor, rows.at(row));
    TEST_ASSERT_EQUAL_FLOAT(old_bias.at(row) / divisor, bias.at(row));
  }
}

TEST("smoothing by text: what is read exactly, and what makes its input, is left alone") {
  const BiasedLlama model;
  const auto names_with_q8_0 = [&](const std::vector<std::string>& exact) {
    Source source = read_source(model.source().directory);
    // As in a GGUF of mixed types: no row is read here.
    for (const std::string& name : exact) source.tensors.at("model.layers.0." + name).type = SourceType::q8_0;
    return names_of(graph_of(source, "q8g32"));
  };
  TEST_ASSERT_TRUE(names_with_q8_0({}) == all_names());
  TEST_ASSERT_TRUE(names_with_q8_0({"mlp.down_proj.weight"}) == all_without({"layer.0.gate+up[48]"}));
  TEST_ASSERT_TRUE(names_with_q8_0({"mlp.gate_proj.weight"}) ==
                   all_without({"layer.0.ffn_norm", "layer.0.gate+up[48]"}));
  TEST_ASSERT_TRUE(names_with_q8_0({"self_attn.o_proj.weight"}) == all_names());
  TEST_ASSERT_TRUE(names_with_q8_0({"self_attn.v_proj.weight"}) == all_without({"layer.0.attention_norm"}));
}

TEST("smoothing by text: what another operation touches on its way is left alone") {
  const BiasedLlama model;
  const Graph graph = graph_of(model.source(), "q8g32");
  const size_t gate = first_of<GateNode>(graph);
  const auto gate_node = std::get<GateNode>(graph.nodes[gate]);
  const auto clamp = [](const View& view) { return ClampNode{-1.0f, 1.0f, view, view}; };
  const std::vector<std::string> no_gate = all_without({"layer.0.gate+up[48]"});
  TEST_ASSERT_TRUE(names_of(with_node(graph, gate, clamp(gate_node.up))) == no_gate);
  TEST_ASSERT_TRUE(names_of(with_node(graph, gate, clamp(gate_node.gate))) == all_names());
  TEST_ASSERT_TRUE(names_of(with_node(graph, gate + 1, clamp(gate_node.out))) == no_gate);
  GateNode square = gate_node;
  square.gate = square.up;
  Graph squared = graph;
  squared.nodes[gate] = square;
  TEST_ASSERT_TRUE(names_of(squared) == no_gate);
  Graph with_residual = graph, with_activation = graph;
  for (size_t i = gate; i-- > 0;) {
    if (!std::holds_alternative<LinearNode>(graph.nodes[i])) continue;
    std::get<LinearNode>(with_residual.nodes[i]).residual = std::get<LinearNode>(graph.nodes[i]).out;
    std::get<LinearNode>(with_activation.nodes[i]).activation = mote::Activation::silu;
    break;
  }
  TEST_ASSERT_TRUE(names_of(with_residual) == no_gate);
  TEST_ASSERT_TRUE(names_of(with_activation) == no_gate);
}
