// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/build_transformer.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

Graph graph_of(const Source& source, const std::string& type, const std::string& head_type = "") {
  Config config(*source.config);
  const TransformerSpec spec = find_architecture(config).read(source, config);
  TensorSet tensors(source);
  return build_transformer(spec, TypePolicy(type, source, spec.is_encoder(), head_type), tensors);
}

std::string graph_error(const TinyLlama& model) {
  const TempDirectory directory;
  model.write(directory.path());
  const Source source = read_source(directory.path());
  return message_of<Error>([&] { graph_of(source, "f32"); });
}

template <class NodeType>
std::vector<NodeType> nodes_of(const Graph& graph) {
  std::vector<NodeType> found;
  for (const Node& node : graph.nodes) {
    if (const NodeType* typed = std::get_if<NodeType>(&node)) found.push_back(*typed);
  }
  return found;
}

std::vector<std::string> weight_names(const Graph& graph, const std::string& prefix) {
  std::vector<std::string> names;
  for (const Weight& weight : graph.weights) {
    if (weight.name.starts_with(prefix)) names.push_back(weight.name);
  }
  return names;
}

}  // namespace

TEST("graph: q, k and v are one linear, gate and up another") {
  const TempDirectory directory;
  TinyLlama().write(directory.path());
  const Source source = read_source(directory.path());
  const Graph graph = graph_of(source, "f32");
  TEST_ASSERT_TRUE(weight_names(graph, "layer.0.") ==
                   std::vector<std::string>({"layer.0.attention_norm", "layer.0.q+k+v", "layer.0.o",
                                             "layer.0.ffn_norm", "layer.0.gate+up", "layer.0.down"}));
  TEST_ASSERT_EQUAL_UINT64(2 * 4 + 1, nodes_of<LinearNode>(graph).size());
  TEST_ASSERT_EQUAL_UINT64(0, nodes_of<QuantizeNode>(graph).size());
  TEST_ASSERT_EQUAL_UINT64(1, nodes_of<RopeTableNode>(graph).size());
  const LinearNode qkv = nodes_of<LinearNode>(graph)[0];
  TEST_ASSERT_EQUAL_UINT32(64, qkv.out.width);
  TEST_ASSERT_FALSE(qkv.residual.has_value());
  const LinearNode o = nodes_of<LinearNode>(graph)[1];
  TEST_ASSERT_TRUE(o.residual.has_value() && o.residual->value == o.out.value);
}

TEST("graph: quantized weights share one quantization of their input") {
  const TempDirectory directory;
  TinyLlama().write(directory.path());
  const Source source = read_source(directory.path());
  const Graph graph = graph_of(source, "q8");
  TEST_ASSERT_EQUAL_UINT64(2 * 4 + 1, nodes_of<QuantizeNode>(graph).size());
  for (const LinearNode& linear : nodes_of<LinearNode>(graph)) {
    TEST_ASSERT_TRUE(graph.values[linear.in.value].dtype == DType::q8g32);
  }
}

TEST(
    "graph: an encoder's matrices at q8 are q8c, its tables are not, and each linear reads what suits its "
    "weight") {
  const TempDirectory directory;
  TinyLlama().write(directory.path());
  const Source source = read_source(directory.path());
  Config config(*source.config);
  const TransformerSpec spec = find_architecture(config).read(source, config);
  TensorSet tensors(source);
  const Graph graph = build_transformer(spec, TypePolicy("q8", source, true), tensors);
  const std::vector<LinearNode> linears = nodes_of<LinearNode>(graph);
  TEST_ASSERT_EQUAL_UINT64(2 * 4 + 1, nodes_of<QuantizeNode>(graph).size());
  for (size_t i = 0; i < linears.size(); ++i) {
    const DType expected = i + 1 < linears.size() ? DType::q8c : DType::q8g32;  // the head is a table
    TEST_ASSERT_TRUE(graph.weights[static_cast<size_t>(linears[i].weight)].dtype == expected);
    TEST_ASSERT_TRUE(graph.values[linears[i].in.value].dtype == expected);
  }
  TEST_ASSERT_TRUE(graph.weights[0].dtype == DType::q8g32);
}

TEST("graph: neighbours of different types write columns of one value and share its quantization") {
  const TempDirectory directory;
  TinyLlama().write(directory.path());
  Source source = read_source(directory.path());
  // As a GGUF of mixed types: only the policy looks at the type here, no row is read.
  source.format = "gguf";
  source.tensors.at("model.layers.0.self_attn.v_proj.weight").type = SourceType::q6_k;
  source.tensors.at("model.layers.0.self_attn.q_proj.weight").type = SourceType::q4_0;
  source.tensors.at("model.layers.0.self_attn.k_proj.weight").type = SourceType::q4_0;
  const Graph graph = graph_of(source, "");
  TEST_ASSERT_TRUE(weight_names(graph, "layer.0.q") == std::vector<std::string>{"layer.0.q+k"});
  TEST_ASSERT_TRUE(weight_names(graph, "layer.0.v") == std::vector<std::string>{"layer.0.v"});
  const std::vector<LinearNode> linears = nodes_of<LinearNode>(graph);
  TEST_ASSERT_EQUAL_UINT32(linears[0].out.value, linears[1].out.value);
  TEST_ASSERT_EQUAL_UINT32(48, linears[1].out.column);
  TEST_ASSERT_EQUAL_UINT32(16, linears[1].out.width);
  TEST_ASSERT_EQUAL_UINT32(linears[0].in.value, linears[1].in.value);
  TEST_ASSERT_EQUAL_UINT64(1, nodes_of<QuantizeNode>(graph).size());
}

TEST("graph: a tied embedding is one packed tensor, a looked-up one stays in rows") {
  TinyLlama model;
  const TempDirectory untied_directory;
  model.write(untied_directory.path());
  const Source untied = read_source(untied_directory.path());
  const Graph looked_up = graph_of(untied, "f16");
  TEST_ASSERT_TRUE(looked_up.weights[0].row_major);
  TEST_ASSERT_TRUE(graph_of(untied, "q8c").weights[0].row_major);
  TEST_ASSERT_FALSE(graph_of(untied, "q4").weights[0].row_major);
  TEST_ASSERT_TRUE(graph_of(untied, "q4").weights[0].dtype == DType::q8g32);

  model.config["tie_word_embeddings"] = true;
  const TempDirectory tied_directory;
  model.write(tied_directory.path());  // with an lm_head, as old checkpoints have
  const Source tied = read_source(tied_directory.path());
  const Graph graph = graph_of(tied, "f32");
  TEST_ASSERT_FALSE(graph.weights[0].row_major);
  TEST_ASSERT_EQUAL_INT(0, nodes_of<LinearNode>(graph).back().weight);
  TEST_ASSERT_TRUE(weight_names(graph, "head").empty());
}

TEST("graph: probes name the embedding, each layer and the final norm") {
  const TempDirectory directory;
  TinyLlama().write(directory.path());
  const Source source = read_source(directory.path());
  const Graph graph = graph_of(source, "q8");
  TEST_ASSERT_EQUAL_UINT64(3, graph.probes.size());
  for (uint32_t i = 0; i < 3; ++i) {
    TEST_ASSERT_EQUAL_STRING("hidden." + std::to_string(i), graph.probes[i].name);
    TEST_ASSERT_TRUE(graph.values[graph.probes[i].view.value].unit == (i < 2 ? Unit::token : Unit::selected));
  }
  TEST_ASSERT_TRUE(std::holds_alternative<EmbedNode>(graph.nodes[graph.probes[0].node]));
  TEST_ASSERT_TRUE(std::holds_alternative<LinearNode>(graph.nodes[graph.probes[1].node]));
  TEST_ASSERT_TRUE(std::holds_alternative<NormNode>(graph.nodes[graph.probes[2].node]));
}

TEST("graph: a window that holds the context is none") {
  TinyLlama model;
  model.config["model_type"] = "mistral";
  for (const uint32_t window : {63u, 64u, 65u}) {
    model.config["sliding_window"] = window;
    const TempDirectory directory;
    model.write(directory.path());
    const Source source = read_source(directory.path());
    TEST_ASSERT_EQUAL_UINT32(window < 64 ? window : 0, graph_of(source, "f32").caches[1].window);
  }
}

TEST("graph: missing, misshapen and unknown tensors are named") {
  TinyLlama missing;
  missing.tensors.erase("model.layers.1.mlp.up_proj.weight");
  TEST_ASSERT_TRUE(contains(graph_error(missing), "model.layers.1.mlp.up_proj.weight is missing"));

  TinyLlama misshapen;
  misshapen.add("model.layers.0.self_attn.k_proj.weight", {32, 32});
  TEST_ASSERT_TRUE(
      contains(graph_error(misshapen),
               "model.layers.0.self_attn.k_proj.weight has shape [32, 32], the config implies [16, 32]"));

  TinyLlama norm;
  norm.add("model.norm.weight", {31});
  TEST_ASSERT_TRUE(contains(graph_error(norm), "model.norm.weight has shape [31]"));

  TinyLlama unknown;
  unknown.add("model.layers.0.self_attn.q_norm.weight", {8});
  TEST_ASSERT_TRUE(contains(graph_error(unknown), "model.layers.0.self_attn.q_norm.weight is not part of"));

  TinyLlama ignored;
  ignored.add("model.layers.0.self_attn.rotary_emb.inv_freq", {4});
  TEST_ASSERT_EQUAL_STRING("", graph_error(ignored));

  TinyLlama biased;
  biased.config["attention_bias"] = true;
  TEST_ASSERT_TRUE(contains(graph_error(biased), "model.layers.0.self_attn.q_proj.bias is missing"));

  TinyLlama infinite;
  infinite.tensors["model.layers.0.input_layernorm.weight"].values[5] = INFINITY;
  TEST_ASSERT_TRUE(contains(graph_error(infinite), "model.layers.0.input_layernorm.weight holds inf at 5"));
}

TEST("graph: a missing tensor comes with the key of the config that asked for it") {
  TinyLlama layers;
  layers.config["num_hidden_layers"] = 3;
  const std::string why = graph_error(layers);
  CAPTURE(why);
  TEST_ASSERT_TRUE(contains(why, "tensor model.layers.2."));
  TEST_ASSERT_TRUE(
      contains(why, " is missing: num_hidden_layers = 3 in config.json asks for layer 2, of which there"));

  TinyLlama biases;
  biases.config["attention_bias"] = true;
  biases.config["mlp_bias"] = false;
  TEST_ASSERT_TRUE(
      contains(graph_error(biases), "bias is missing: attention_bias = true in config.json asks for it"));

  TinyLlama head;
  head.config["tie_word_embeddings"] = false;
  head.tensors.erase("lm_head.weight");
  TEST_ASSERT_TRUE(
      contains(graph_error(head),
               "lm_head.weight is missing: tie_word_embeddings = false in config.json asks for a head"));

  TinyLlama lost;  // a tensor of a layer that has others: no key is the cause
  lost.tensors.erase("model.layers.1.mlp.up_proj.weight");
  TEST_ASSERT_TRUE(graph_error(lost).ends_with("model.layers.1.mlp.up_proj.weight is missing"));
}

TEST("graph: a bias that only some of the fused have is 0 for the others") {
  TinyLlama model;
  model.add("model.layers.0.self_attn.k_proj.bias", {16});
  const TempDirectory directory;
  model.write(directory.path());
  Source source = read_source(directory.path());
  TEST_ASSERT_TRUE(contains(graph_error(model), "k_proj.bias is not part of this architecture"));
  source.format = "gguf";  // which has no key that says whether there are biases
  const Graph graph = graph_of(source, "f32");
  const LinearNode qkv = nodes_of<LinearNode>(graph)[0];
  const std::vector<float>& bias = graph.weights[static_cast<size_t>(qkv.bias)].values;
  TEST_ASSERT_EQUAL_UINT64(64, bias.size());
  TEST_ASSERT_EQUAL_FLOAT(0.0f, bias[31]);
  TEST_ASSERT_EQUAL_FLOAT(model.tensors["model.layers.0.self_attn.k_proj.bias"].values[0], bias[32]);
  TEST_ASSERT_EQUAL_FLOAT(0.0f, bias[48]);
}

TEST("graph: a head has a type of its own if asked for, and so has an embedding tied to it") {
  for (const bool tied : {false, true}) {
    TinyLlama model;
    if (tied) {
      model.config["tie_word_embeddings"] = true;
      model.tensors.erase("lm_head.weight");
    }
    const TempDirectory directory;
    model.write(directory.path());
    const Source source = read_source(directory.path());
    const Graph graph = graph_of(source, "q4", "q4mg32");
    const auto linears = nodes_of<LinearNode>(graph);
    const auto type_of = [&](int32_t weight) { return graph.weights[static_cast<size_t>(weight)].dtype; };
    TEST_ASSERT_TRUE(type_of(linears.back().weight) == DType::q4mg32);
    TEST_ASSERT_TRUE(type_of(linears.front().weight) == DType::q4g32);
    TEST_ASSERT_TRUE(graph.weights[0].dtype == (tied ? DType::q4mg32 : DType::q8g32));
  }
  Source source;
  source.format = "hf";
  TEST_ASSERT_EQUAL_STRING("q4, head f16", TypePolicy("q4", source, false, "f16").name());
  const std::string error = message_of<Error>([&] { TypePolicy("q4", source, false, "q4"); });
  TEST_ASSERT_TRUE(contains(error, "head type 'q4' is unknown"));
}

TEST("policy: every type has its name, a misspelt one gets the nearest suggested") {
  Source source;
  source.format = "hf";
  for (const char* name :
       {"q8", "q4", "f32", "f16", "q8g32", "q4g32", "q4mg32", "q8c", "q4k", "q5k", "q6k"}) {
    TEST_ASSERT_EQUAL_STRING(name, TypePolicy(name, source, false).name());
  }
  TEST_ASSERT_EQUAL_STRING("q8", TypePolicy("", source, false).name());
  const auto error = [&](const char* type) {
    return message_of<Error>([&] { TypePolicy(type, source, false); });
  };
  TEST_ASSERT_TRUE(contains(error("q4g23"), "did you mean 'q4g32'?"));
  TEST_ASSERT_TRUE(contains(error("fp16"), "did you mean 'f16'?"));
  TEST_ASSERT_TRUE(contains(error("Q8"), "did you mean 'q8'?"));
}
