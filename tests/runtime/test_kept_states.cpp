// SPDX-License-Identifier: Apache-2.0
//
// Keys and values that a program reads were stored by it before, or are a source's; else a file is refused.
#include <algorithm>

#include "runtime/file/model.h"
#include "tests/support/source_model.h"
#include "tests/support/test_model.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kWidth = 16;

/// An encoder of floats, whose only attention is over rows of `unit`, each a copy of a token's row. `stored`:
/// it stores keys and values before.
Graph encoder(uint32_t ratio_of_groups, uint32_t ratio_of_state, uint32_t memory, bool stored) {
  Graph graph = test::bare_graph(16, kWidth, 40);
  View x = test::add_value(graph, kWidth);
  graph.nodes.push_back(InputNode{x});
  Unit unit = Unit::token;
  if (ratio_of_groups != 0) {
    unit = graph.add_groups(Unit::token, ratio_of_groups);
    const View stacked = test::add_value(graph, kWidth * ratio_of_groups, unit);
    graph.nodes.push_back(StackRowsNode{x, stacked});
    x = {stacked.value, 0, kWidth};
  }
  if (stored) graph.nodes.push_back(KvStoreNode{0, {x.value, 0, 8}, {x.value, 8, 8}});
  const View attended = test::add_value(graph, kWidth, unit);
  graph.nodes.push_back(AttentionNode{0, 2, 0.5f, x, attended});
  graph.output = test::add_value(graph, kWidth, Unit::sequence);
  graph.nodes.push_back(PoolNode{mote::PoolKind::mean, attended, graph.output});
  graph.output_kind = OutputKind::embedding;
  Cache cache{1, 8, 0, true};
  cache.ratio = ratio_of_state;
  cache.memory = memory;
  graph.caches = {cache};
  return graph;
}

/// Without the operations of that type which store into the state.
void drop_stores(ProgramGraph* program, uint32_t state) {
  auto& nodes = program->nodes;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [state](const Node& node) {
                               const auto* store = std::get_if<KvStoreNode>(&node);
                               return store != nullptr && store->cache == state;
                             }),
              nodes.end());
}

void refused(const Graph& graph, const char* why) {
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  INFO(error.text);
  TEST_ASSERT_TRUE(test::says(error.text, why));
}

/// A decoder with two programs that append to its two states: ids, and floats.
Graph two_programs() {
  Graph graph = test::bare_graph(test::kSourceVocab, test::kSourceWidth, 64);
  graph.caches = {{1, 8, 0}, {1, 8, 0}};
  graph.more_programs.resize(1);
  graph.more_programs[0].name = "floats";
  for (ProgramGraph* program : {static_cast<ProgramGraph*>(&graph), &graph.more_programs[0]}) {
    test::ProgramMaker maker(graph, *program);
    const View x = maker.value(test::kSourceWidth),
               selected = maker.value(test::kSourceWidth, Unit::selected);
    const int32_t table = maker.weight("table", test::kSourceVocab, test::kSourceWidth);
    maker.add(program == &graph ? Node(EmbedNode{table, x}) : Node(InputNode{x}));
    for (const uint32_t state : {0u, 1u}) {
      maker.store("layer", state, x);
      maker.attend("layer", state, x);
    }
    maker.add(SelectNode{x, selected});
    program->output = maker.linear("table", selected, test::kSourceVocab, Unit::selected);
  }
  return graph;
}

}  // namespace

TEST("rows of groups, however many, cannot lie in a state behind the tokens of earlier runs") {
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(encoder(0, 1, 4, true), &error));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(encoder(1, 1, 0, true), &error));
  refused(encoder(1, 1, 4, true), "KvStore: k is not per token");
}

TEST("a program attends to no state in which it has stored nothing before, whatever the state's ratio") {
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(encoder(2, 2, 0, true), &error));
  for (const uint32_t ratio : {1u, 2u}) refused(encoder(ratio == 1 ? 0 : ratio, ratio, 0, false), "state 0");
  Graph fixed = encoder(1, 0, 0, false);  // two rows of each sequence
  fixed.groups.back().fixed = 2;
  refused(fixed, "");
  Graph late = encoder(0, 1, 0, true);
  std::swap(late.nodes[1], late.nodes[2]);  // attends, then stores
  refused(late, "Attention: program");
  Graph decoder = two_programs();
  drop_stores(&decoder, 0);
  refused(decoder, "has stored nothing in state 0 before");
}

TEST("a source stores what tokens read of it") {
  Graph graph = test::source_graph(test::SourceRows::ids, true);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(graph, &error));
  drop_stores(&graph.more_programs[0], 1);
  refused(graph, "program encode has stored nothing in state 1");
}

TEST("a program that appends stores all that another reads of its tokens") {
  Graph graph = two_programs();
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(graph, &error));
  auto& nodes = graph.more_programs[0].nodes;
  drop_stores(&graph.more_programs[0], 1);
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [](const Node& node) {
                               const auto* attention = std::get_if<AttentionNode>(&node);
                               return attention != nullptr && attention->cache == 1;
                             }),
              nodes.end());
  refused(graph, "program floats has stored nothing in state 1");
}

TEST("which rows a program keeps is found once, when the file is opened") {
  test::AlignedBytes file = test::graph_file(encoder(2, 2, 0, true), "kept");
  const test::OpenModel model(file);
  const mote_model& opened = *model.get();
  const uint32_t streams = opened.program->streams()->size();
  const uint32_t pairs = mote::kept_stream(opened, *opened.program, 2);
  TEST_ASSERT_TRUE(pairs < streams && opened.program->streams()->Get(pairs)->ratio() == 2);
  TEST_ASSERT_EQUAL_UINT32(streams, mote::kept_stream(opened, *opened.program, 1));  // there is none
  auto* root = mote::file::GetMutableSizePrefixedModel(file.data());
  auto* program = root->mutable_programs()->GetMutableObject(0);
  for (uint32_t i = 0; i < program->buffers()->size(); ++i)  // no operation is asked again
    program->mutable_buffers()->GetMutableObject(i)->mutate_stream(0);
  TEST_ASSERT_EQUAL_UINT32(pairs, mote::kept_stream(opened, *opened.program, 2));
}
