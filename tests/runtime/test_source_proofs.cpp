// SPDX-License-Identifier: Apache-2.0
//
// What a file of programs of two kinds must be, or opening it says why not.
#include "tests/support/source_model.h"
#include "tests/support/unity_style.h"

using test::SourceRows;

TEST("the first of programs of two kinds appends, and states have sources of whole sequences", "[sources]") {
  using mote::file::Model;
  using mote::file::ProgramKind;
  const auto graph = test::source_graph(SourceRows::ids, true);
  const auto set_source = [](uint32_t state, int32_t source) {
    return [=](Model* root) { root->mutable_states()->GetMutableObject(state)->mutate_source(source); };
  };
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(graph, &error));
  test::AlignedBytes file = test::graph_file(graph, "features");
  using mote::file::Feature;
  TEST_ASSERT_TRUE(mote::file::GetSizePrefixedModel(file.data())->required_features() ==
                   (Feature::sources | Feature::programs));
  for (const int32_t source : {-2, 0, 2, INT32_MAX}) {
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error, set_source(1, source)));
  }
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error, set_source(0, 1)));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error, set_source(1, -1)));
  TEST_ASSERT_TRUE(test::says(error.text, "Attention: state 1 keeps rows of another program"));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error, [](Model* root) {
                          root->mutable_programs()->GetMutableObject(0)->mutate_context(3);
                        }));
  TEST_ASSERT_TRUE(test::says(error.text, "program decode has a context of 3"));
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, test::open_changed(graph, &error, [](Model* root) {
                          root->mutable_programs()->GetMutableObject(0)->mutate_kind(ProgramKind::whole);
                          root->mutable_programs()->GetMutableObject(1)->mutate_kind(ProgramKind::append);
                        }));
  TEST_ASSERT_TRUE(test::says(error.text, "program encode"));
}

TEST("tokens store nothing into their source, and have no bias towards it", "[sources]") {
  using namespace mote::convert;
  mote_error error{};
  Graph graph = test::source_graph(SourceRows::ids, true);
  for (Node& node : graph.nodes) {
    if (auto* store = std::get_if<KvStoreNode>(&node)) store->cache = 1;
  }
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "KvStore: state 1 keeps rows of another program"));
  graph = test::source_graph(SourceRows::ids, false);
  graph.weights.push_back({"bias",
                           mote::DType::f32,
                           true,
                           2,
                           2 * test::kSourceContext - 1,
                           {},
                           std::vector<float>(4 * test::kSourceContext - 2)});
  for (Node& node : graph.nodes) {
    if (auto* attention = std::get_if<AttentionNode>(&node))
      attention->bias = static_cast<int32_t>(graph.weights.size() - 1);
  }
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "a bias is by distances"));
}
