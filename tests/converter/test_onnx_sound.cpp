// SPDX-License-Identifier: Apache-2.0
//
// ONNX graphs that exporters do not write, and those of onnxruntime's static quantizer.
#include <cmath>
#include <limits>

#include "converter/onnx/onnx_model.h"
#include "converter/onnx/trace.h"
#include "converter/readers/readers.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(MOTE_SOURCE_DIR) / "tests";

OnnxAttribute integers(const char* name, const std::vector<int64_t>& values) {
  OnnxAttribute attribute{name};
  attribute.integers = values;
  return attribute;
}

OnnxAttribute integer(const char* name, int64_t value) {
  OnnxAttribute attribute{name};
  attribute.integer = value;
  return attribute;
}

/// What the operator makes of `x`.
Traced applied(const char* op, const Traced& x, const std::vector<OnnxAttribute>& attributes) {
  OnnxGraph graph;
  graph.inputs = {{"x"}};
  graph.nodes = {{op, "", "", {"x"}, {"y"}, attributes}};
  return trace_onnx(graph, "graph", {{"x", x}}).values.at("y");
}

void check_numbers(const Traced& tensor, const std::vector<uint64_t>& dims,
                   const std::vector<float>& expected) {
  REQUIRE(tensor->dims == dims);
  REQUIRE(tensor->elements.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) REQUIRE(tensor->elements[i].number() == expected[i]);
}

std::vector<float> sound_row(const SourceTensor& tensor, uint64_t row) {
  std::vector<float> values(tensor.cols());
  read_row(tensor, row, values);
  return values;
}

/// The small BERT's config, and in `directory` the file as its graph.
void write_bert(const TempDirectory& directory, const std::string& graph) {
  write_text(directory / "config.json", R"({"model_type": "bert", "hidden_size": 4, "num_attention_heads": 2,
      "num_hidden_layers": 1, "intermediate_size": 6, "vocab_size": 12, "max_position_embeddings": 8})");
  write_text(directory / "model.onnx", graph);
}

}  // namespace

TEST("onnx: what is reduced of no elements is the operator's neutral number, as often as its shape says",
     "[onnx]") {
  check_numbers(applied("ReduceSum", known_numbers({2, 0}, {}), {integers("axes", {1})}), {2, 1}, {0, 0});
  check_numbers(
      applied("ReduceProd", known_numbers({0}, {}), {integers("axes", {0}), integer("keepdims", 0)}), {},
      {1});
  check_numbers(applied("ReduceProd", known_numbers({0, 3}, {}), {integers("axes", {0})}), {1, 3}, {1, 1, 1});
  check_numbers(applied("ReduceSum", known_numbers({2, 0}, {}), {integers("axes", {0})}), {1, 0}, {});
}

TEST("onnx: a reduction without axes is of all elements, one of several axes of these", "[onnx]") {
  const Traced x = known_numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  check_numbers(applied("ReduceSum", x, {}), {1, 1}, {21});
  check_numbers(applied("ReduceProd", x, {integer("keepdims", 0)}), {}, {720});
  check_numbers(applied("ReduceSum", x, {integers("axes", {-1, 0}), integer("keepdims", 0)}), {}, {21});
  check_numbers(applied("ReduceSum", x, {integers("axes", {0})}), {1, 3}, {5, 7, 9});
  check_numbers(applied("ReduceSum", x, {integer("noop_with_empty_axes", 1)}), {2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST("onnx: a tensor whose elements are not as many as its shape says is refused", "[onnx]") {
  OnnxTrace trace;
  uint64_t budget = 100;
  const OnnxNode node{"Op", "", "", {}, {"y"}, {}};
  const OnnxStep step{trace, node, {}, budget};
  const auto error = message_of<Error>([&] {
    step.make(TracedKind::real, {2, 1}, {TracedElement::of(1.0f)});
  });
  TEST_ASSERT_TRUE(error.find("node y (Op): its output has 1 elements") != std::string::npos);
  const uint64_t half = uint64_t{1} << 32;
  TEST_ASSERT_TRUE(!message_of<Error>([&] { step.make(TracedKind::real, {half, half}, {}); }).empty());
}

TEST("onnx: a triangle that begins nowhere is refused", "[onnx]") {
  OnnxGraph graph;
  graph.inputs = {{"x"}, {"k"}};
  graph.nodes = {{"Trilu", "", "", {"x", "k"}, {"y"}, {}}};
  const std::map<std::string, Traced> inputs = {{"x", known_numbers({1, 1}, {1})},
                                                {"k", known_numbers({0}, {})}};
  TEST_ASSERT_TRUE(!message_of<Error>([&] { trace_onnx(graph, "graph", inputs); }).empty());
}

TEST("onnx: a statically quantized encoder is read, and its weights keep their integers", "[onnx]") {
  const TempDirectory plain_folder, packed_folder;
  write_bert(plain_folder, read_text(kTests / "fuzz/corpus/onnx/bert"));
  write_bert(packed_folder, read_text(kTests / "converter/data/bert_static.onnx"));
  const Source plain = read_source(plain_folder.path()), packed = read_source(packed_folder.path());
  TEST_ASSERT_EQUAL_UINT64(1, packed.notes.size());  // activations are rounded in mote's own way
  REQUIRE(packed.tensors.size() >= plain.tensors.size());
  for (const auto& [name, tensor] : plain.tensors) {
    INFO(name);
    const SourceTensor& other = packed.tensors.at(name);
    REQUIRE(other.shape == tensor.shape);
    float largest = 0.0f;
    for (uint64_t row = 0; row < tensor.rows(); ++row)
      for (const float value : sound_row(tensor, row)) largest = std::max(largest, std::abs(value));
    for (uint64_t row = 0; row < tensor.rows(); ++row) {
      const std::vector<float> wanted = sound_row(tensor, row), values = sound_row(other, row);
      for (size_t i = 0; i < values.size(); ++i)
        REQUIRE(std::abs(values[i] - wanted[i]) <= 0.5001f * largest / 127.0f);
    }
  }
}

TEST("onnx: rounding with one scale and reading with another is no rounding", "[onnx]") {
  const auto read_with = [](const char* zero) {
    OnnxGraph graph;
    graph.inputs = {{"rows"}, {"scale"}, {"a"}, {"b"}, {"order"}};
    graph.nodes = {{"Exp", "", "", {"rows"}, {"x"}, {}},
                   {"Slice", "", "", {"x", "a", "b"}, {"part"}, {}},  // a view, as heads are
                   {"QuantizeLinear", "", "", {"part", "scale", "a"}, {"q"}, {}},
                   {"Transpose", "", "", {"q"}, {"turned"}, {}},
                   {"DequantizeLinear", "", "", {"turned", "scale", zero}, {"y"}, {}}};
    auto rows = std::make_shared<TracedTensor>();
    rows->dims = {2, 3};
    rows->whole = 0;
    return trace_onnx(graph, "graph",
                      {{"rows", rows},
                       {"scale", known_numbers({}, {0.5f})},
                       {"a", known_numbers({1}, {0})},
                       {"b", known_numbers({1}, {1})},
                       {"order", known_numbers({1}, {0})}});
  };
  const OnnxTrace same = read_with("order"), other = read_with("b");
  TEST_ASSERT_TRUE(same.rounds);
  REQUIRE(same.values.at("y")->dims == std::vector<uint64_t>{3, 1});
  for (uint64_t i = 0; i < 3; ++i) REQUIRE(same.values.at("y")->at(i) == same.values.at("part")->at(i));
  TEST_ASSERT_TRUE(!other.rounds);
  TEST_ASSERT_TRUE(other.values.at("y")->whole >= 0);  // something of its own
}

TEST("onnx: integers of no elements are refused by name", "[onnx]") {
  auto model = std::make_shared<OnnxModel>();
  OnnxTensor tensor{"w", OnnxType::i8};
  for (const std::vector<uint64_t>& dims : {std::vector<uint64_t>{0, 3}, {3, 0}, {0, 0}}) {
    tensor.dims = dims;
    for (const bool in_out : {false, true}) {
      const OnnxWeight weight{&tensor, in_out, {1.0f}, {}};
      const auto error = message_of<Error>([&] { onnx_source_tensor(model, weight, "layer.weight"); });
      TEST_ASSERT_TRUE(error.find("layer.weight has no elements") != std::string::npos);
    }
  }
}

TEST("onnx: the work for a graph grows as it does", "[onnx]") {
  const auto work_for = [](uint64_t nodes) {
    OnnxGraph graph;
    graph.inputs = {{"x0"}};
    for (uint64_t i = 0; i < nodes; ++i)
      graph.nodes.push_back(
          {"Add", "", "", {fmt::format("x{}", i), fmt::format("x{}", i)}, {fmt::format("x{}", i + 1)}, {}});
    const uint64_t before = work_charged();
    trace_onnx(graph, "graph", {{"x0", known_numbers({64}, std::vector<float>(64, 0.0f))}});
    return work_charged() - before;
  };
  for (const uint64_t nodes : {uint64_t{50}, uint64_t{100}, uint64_t{200}})
    REQUIRE(work_for(2 * nodes) <= work_for(nodes) * 9 / 4);
}

TEST("onnx: a small file that makes large tensors is refused with the limit", "[onnx]") {
  OnnxGraph graph;
  graph.inputs = {{"shape"}};
  graph.nodes = {{"ConstantOfShape", "", "", {"shape"}, {"y"}, {}}};
  const WorkBudget budget("model.onnx", 178);
  const auto error = message_of<Error>([&] {
    trace_onnx(graph, "graph", {{"shape", known_numbers({1}, {1 << 24})}});
  });
  INFO(error);
  TEST_ASSERT_TRUE(error.find("model.onnx: reading its 178 bytes takes more than") != std::string::npos);
}

TEST("onnx: proving a small encoder costs little of what its file may", "[onnx]") {
  const TempDirectory folder;
  write_bert(folder, read_text(kTests / "fuzz/corpus/onnx/bert"));
  const uint64_t before = work_charged();
  read_source(folder.path());
  REQUIRE(work_charged() - before < 2'000'000);
}

TEST("onnx: onnxruntime's fused operators are written as those that they stand for", "[onnx]") {
  OnnxModel model;
  const auto fused = [&](const char* op, std::vector<std::string> inputs,
                         std::vector<OnnxAttribute> attributes) {
    model.graph.nodes = {{op, "", "com.microsoft", std::move(inputs), {"y"}, std::move(attributes)}};
    expand_fused(model);
    std::string ops;
    for (const OnnxNode& node : model.graph.nodes) ops += (ops.empty() ? "" : " ") + node.op;
    REQUIRE(model.graph.nodes.back().outputs[0] == "y");
    return ops;
  };
  OnnxAttribute tanh{"activation"}, other{"activation"};
  tanh.text = "Tanh";
  other.text = "Sigmoid";
  REQUIRE(fused("Gelu", {"x"}, {}) == "Gelu");
  REQUIRE(model.graph.nodes[0].find("approximate")->text == "none");
  REQUIRE(fused("BiasGelu", {"x", "b"}, {}) == "Add Gelu");
  REQUIRE(fused("FastGelu", {"x", "b"}, {}) == "Add Gelu");
  REQUIRE(model.graph.nodes[1].find("approximate")->text == "tanh");
  REQUIRE(fused("FusedMatMul", {"a", "b"}, {}) == "MatMul Mul");
  REQUIRE(fused("FusedMatMul", {"a", "b"}, {integer("transA", 1)}) == "FusedMatMul");  // not understood
  REQUIRE(fused("FusedGemm", {"a", "b"}, {tanh}) == "Gemm Tanh");
  REQUIRE(fused("FusedGemm", {"a", "b"}, {other}) == "FusedGemm");
  REQUIRE(fused("SkipLayerNormalization", {"x", "r", "w", "b", "c"}, {}) == "Add Add LayerNormalization");
  REQUIRE(fused("DynamicQuantizeMatMul", {"x", "w", "s", "z", "b"}, {}) ==
          "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add");
}

TEST("onnx: elements are moved as the operators say", "[onnx]") {
  const Traced x = known_numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  check_numbers(applied("Flatten", x, {integer("axis", 0)}), {1, 6}, {1, 2, 3, 4, 5, 6});
  check_numbers(applied("Trilu", x, {integer("upper", 0)}), {2, 3}, {1, 0, 0, 4, 5, 0});
  check_numbers(applied("Trilu", x, {}), {2, 3}, {1, 2, 3, 0, 5, 6});
  OnnxGraph graph;
  graph.inputs = {{"x"}, {"places"}};
  graph.nodes = {{"GatherND", "", "", {"x", "places"}, {"y"}, {}}};
  const auto gathered = [&](const Traced& places) {
    return trace_onnx(graph, "graph", {{"x", x}, {"places", places}}).values.at("y");
  };
  check_numbers(gathered(known_numbers({2, 2}, {0, 2, 1, 0})), {2}, {3, 4});
  check_numbers(gathered(known_numbers({1, 1}, {-1})), {1, 3}, {4, 5, 6});
  const std::string error = message_of<Error>([&] { gathered(known_numbers({1, 1}, {2})); });
  REQUIRE(contains(error, "it takes element 2 of 2"));
}
