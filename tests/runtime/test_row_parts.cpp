// SPDX-License-Identifier: Apache-2.0
//
// Streams with more rows than tokens.
#include <string>

#include "tests/support/stream_case.h"
#include "tests/support/thread_pool.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kPartsWidth = 2, kParts = 3, kMoreParts = 2, kAll = kParts * kMoreParts;

/// Rows of kAll * kPartsWidth floats are split in two steps, each part is put beside the one before it, and
/// all of a token's are stacked again.
Graph splitter() {
  Graph graph = test::bare_graph(1, 2 * kAll * kPartsWidth, 64);
  const auto value = [&](uint32_t width, Unit unit) { return test::add_value(graph, width, unit); };
  const View in = value(kAll * kPartsWidth, Unit::token);
  graph.nodes.push_back(InputNode{in});
  const Unit parts = graph.add_parts(Unit::token, kParts);
  const View coarse = value(kMoreParts * kPartsWidth, parts);
  graph.nodes.push_back(SplitRowsNode{in, coarse});
  const Unit more = graph.add_parts(parts, kMoreParts);
  const View fine = value(kPartsWidth, more), pairs = value(2 * kPartsWidth, more);
  graph.nodes.push_back(SplitRowsNode{coarse, fine});
  graph.nodes.push_back(FramesNode{2, 1, fine, pairs});
  const View stacked = value(graph.width, graph.add_groups(more, kAll));
  graph.nodes.push_back(StackRowsNode{pairs, stacked});
  graph.output = value(graph.width, Unit::selected);
  graph.nodes.push_back(SelectNode{stacked, graph.output});
  graph.output_kind = OutputKind::hidden;
  return graph;
}

std::vector<float> rows_of(const std::vector<uint32_t>& lengths) {
  std::vector<float> rows;
  for (const uint32_t length : lengths) {
    for (uint32_t i = 0; i < length * kAll * kPartsWidth; ++i)
      rows.push_back(static_cast<float>(1000 * length + i + 1));
  }
  return rows;
}

void check_outputs(const mote_session* session, const std::vector<uint32_t>& lengths,
                   const std::vector<float>& rows) {
  uint32_t output = 0;
  size_t begin = 0;
  for (const uint32_t length : lengths) {
    for (uint32_t row = 0; row < length; ++row, ++output) {
      const float* values = mote_session_output(session, output);
      REQUIRE(values != nullptr);
      for (uint32_t part = 0; part < kAll; ++part) {
        for (uint32_t i = 0; i < kPartsWidth; ++i) {
          const size_t own = begin + (size_t{row} * kAll + part) * kPartsWidth + i;
          const float before = row == 0 && part == 0 ? 0.0f : rows[own - kPartsWidth];
          TEST_ASSERT_EQUAL_FLOAT(before, values[part * 2 * kPartsWidth + i]);
          TEST_ASSERT_EQUAL_FLOAT(rows[own], values[part * 2 * kPartsWidth + kPartsWidth + i]);
        }
      }
    }
    begin += size_t{length} * kAll * kPartsWidth;
  }
  TEST_ASSERT_NULL(mote_session_output(session, output));
}

/// Of streams of tokens, selected ones, parts, parts of these, groups.
std::string refusal(uint32_t index, const std::function<void(mote::file::Stream*)>& change) {
  return test::stream_refusal(splitter(), index, change);
}

}  // namespace

TEST("parts of rows are rows in their sequence's order, for any batch and threads", "[streams]") {
  const test::AlignedBytes file = test::graph_file(splitter(), "splitter");
  const test::OpenModel model(file);
  const std::vector<uint32_t> lengths = {9, 1, 64, 4, 13};
  const std::vector<float> rows = rows_of(lengths);
  for (const uint32_t threads : {1u, 2u}) {
    const test::ThreadPool pool(threads);
    mote_session_options options = mote_session_options_default(model.get());
    options.platform = pool.platform();
    options.threads = threads;
    options.batch = static_cast<uint32_t>(lengths.size());
    options.chunk = options.logit_rows = 91;
    const test::OpenSession session(model, options);
    mote_error error{};
    for (uint32_t i = 0; i < 2; ++i) {
      TEST_ASSERT_EQUAL_INT(MOTE_OK, test::encode_rows(session.get(), lengths, rows, &error));
      check_outputs(session.get(), lengths, rows);
    }
  }
}

TEST("a stream of parts says how many, of whole rows, and a sequence has not too many", "[streams]") {
  using mote::file::Stream;
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_parts(0); }), "stream 2 has 0 rows for each"));
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_parts(5000); }), "stream 2 has 5000 rows"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_parts(UINT32_MAX); }), "4294967295 rows"));
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_parts(1); }), "out has no rows for parts"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_parts(4); }), "expected 16"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_ratio(2); }), "rows for each of 2 rows"));
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_needs(2); }), "stream 2 has 3 rows for each"));
  // 64 tokens, 3 parts of each and 4096 of each of those are fewer than 2^24 rows; 4096 twice are more.
  TEST_ASSERT_TRUE(test::says(refusal(3, [](Stream* s) { s->mutate_parts(4096); }), "in has width 4"));
  mote_error error{};
  Graph graph = splitter();
  graph.groups[0].parts = graph.groups[1].parts = 4096;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "stream 3 has 4096 rows for each"));
  graph = splitter();
  std::get<SplitRowsNode>(graph.nodes[1]).columns = 5;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "3 parts are no square"));
}

TEST("a state keeps no rows of parts, and windows are not of other streams' rows", "[streams]") {
  mote_error error{};
  Graph graph = splitter();
  const View fine = std::get<SplitRowsNode>(graph.nodes[2]).out;
  graph.caches = {{1, kPartsWidth, 0, true}};
  graph.nodes[3] = KvStoreNode{0, fine, fine};
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "rows for parts of tokens"));
  graph = splitter();
  const View pairs = test::add_value(graph, 2 * kAll * kPartsWidth, graph.values[1].unit);
  graph.nodes[1] = FramesNode{2, 1, std::get<InputNode>(graph.nodes[0]).out, pairs};
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "out has no row for a row or a group of rows of in"));
}

TEST("a session with more rows than have numbers is refused", "[streams]") {
  Graph graph = splitter();
  graph.groups[1].parts = 4096;
  graph.values[1].width = 4096 * kPartsWidth;
  graph.values[0].width = kParts * 4096 * kPartsWidth;
  std::get<InputNode>(graph.nodes[0]).out.width = std::get<SplitRowsNode>(graph.nodes[1]).in.width =
      graph.values[0].width;
  std::get<SplitRowsNode>(graph.nodes[1]).out.width = std::get<SplitRowsNode>(graph.nodes[2]).in.width =
      graph.values[1].width;
  const test::AlignedBytes file = test::graph_file(graph, "many");
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  mote_memory memory{};
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_memory(model.get(), &options, &memory, &error));
  options.chunk = 1u << 18;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "too many rows"));
}
