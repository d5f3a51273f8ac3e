// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/build_transformer.h"
#include "converter/planner/memory_plan.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;

namespace {

View whole(const Graph& graph, uint32_t value) { return {value, 0, graph.values[value].width}; }

/// A chain of quantize nodes: value i is read by node i, which writes value i + 1.
Graph chain(const std::vector<uint32_t>& widths) {
  Graph graph{};
  for (const uint32_t width : widths) graph.values.push_back({width, DType::f32, Unit::token});
  for (uint32_t i = 0; i + 1 < widths.size(); ++i) {
    graph.nodes.push_back(QuantizeNode{whole(graph, i), whole(graph, i + 1)});
  }
  graph.output = whole(graph, static_cast<uint32_t>(widths.size() - 1));
  return graph;
}

/// Fails if two values that live at once share bytes of a region, or one lies outside it.
void check_plan(const Graph& graph, const MemoryPlan& plan) {
  const std::vector<Lifetime> lives = lifetimes(graph);
  const auto end = [&](uint32_t value) {
    const PlannedBuffer& buffer = plan.buffers[plan.buffer_of[value]];
    return buffer.offset + buffer_row_bytes(buffer.dtype, buffer.width);
  };
  for (uint32_t a = 0; a < graph.values.size(); ++a) {
    const PlannedBuffer& first = plan.buffers[plan.buffer_of[a]];
    const Value& value = graph.values[a];
    TEST_ASSERT_TRUE(first.width == value.width && first.dtype == value.dtype && first.unit == value.unit);
    TEST_ASSERT_EQUAL_INT(0, first.offset % kAlignment);
    TEST_ASSERT_LESS_OR_EQUAL(plan.bytes(value.unit), end(a));
    for (uint32_t b = a + 1; b < graph.values.size(); ++b) {
      const PlannedBuffer& second = plan.buffers[plan.buffer_of[b]];
      const bool live_at_once = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
      if (first.unit != second.unit || !live_at_once) continue;
      TEST_ASSERT_TRUE(end(a) <= second.offset || end(b) <= first.offset);
    }
  }
}

Graph golden_graph(const std::string& name, const std::string& type) {
  const Source source = read_source(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/models" / name);
  Config config(*source.config);
  const TransformerSpec spec = find_architecture(config).read(source, config);
  TensorSet tensors(source);
  return build_transformer(spec, TypePolicy(type, source, spec.is_encoder()), tensors);
}

}  // namespace

TEST("planner: values that live at once never share bytes, in every golden model and type") {
  for (const char* name : {"llama", "mistral", "qwen2", "qwen3", "gpt2"}) {
    for (const char* type : {"f32", "q8", "q4mg32", "q8c"}) {
      const Graph graph = golden_graph(name, type);
      check_plan(graph, plan_memory(graph));
    }
  }
}

TEST("planner: layers use the same buffers again") {
  const Graph graph = golden_graph("llama", "q8");
  const MemoryPlan plan = plan_memory(graph);
  uint64_t all = 0;
  for (const Value& value : graph.values) {
    if (value.unit == Unit::token) all += buffer_row_bytes(value.dtype, value.width);
  }
  TEST_ASSERT_LESS_THAN(all, uint64_t{plan.bytes(Unit::token)});
  TEST_ASSERT_LESS_THAN(graph.values.size(), plan.buffers.size());
}

TEST("planner: a chain needs two neighbours at a time") {
  const Graph graph = chain({64, 32, 48, 32, 16});
  const MemoryPlan plan = plan_memory(graph);
  check_plan(graph, plan);
  TEST_ASSERT_EQUAL_UINT32((64 + 32) * 4, plan.bytes(Unit::token));
  TEST_ASSERT_EQUAL_UINT32(0, plan.bytes(Unit::selected));
}

TEST("planner: the output lives to the end") {
  Graph graph = chain({16, 32, 16, 32});
  graph.output = whole(graph, 1);
  check_plan(graph, plan_memory(graph));
  const Lifetime life = lifetimes(graph)[1];
  TEST_ASSERT_EQUAL_UINT32(graph.nodes.size(), life.last);
}

TEST("planner: rows beyond the cap are refused") {
  const std::string message = mote::testing::message_of<Error>([] {
    plan_memory(chain({1u << 28, 1u << 28, 1u << 28}));
  });
  TEST_ASSERT_TRUE(message.find("intermediate rows") != std::string::npos);
}
