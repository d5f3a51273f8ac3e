// SPDX-License-Identifier: Apache-2.0
//
// Programs whose groups are windows over time, and whose outputs are of groups.
#include <string>

#include "tests/support/stream_case.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kFrameWidth = 3, kTaps = 4, kStride = 2;

/// The frames of windows of kTaps rows, kStride apart, then of windows of 2 of those, one for each of them.
Graph framer() {
  Graph graph = test::bare_graph(1, 2 * kTaps * kFrameWidth, 64);
  const auto value = [&](uint32_t width, Unit unit) { return test::add_value(graph, width, unit); };
  const View in = value(kFrameWidth, Unit::token);
  graph.nodes.push_back(InputNode{in});
  const Unit windows = graph.add_groups(Unit::token, kStride, kTaps);
  const View frames = value(kTaps * kFrameWidth, windows);
  graph.nodes.push_back(FramesNode{kTaps, 0, in, frames});
  const View pairs = value(2 * kTaps * kFrameWidth, windows);
  graph.nodes.push_back(FramesNode{2, 1, frames, pairs});
  graph.output = value(pairs.width, Unit::selected);
  graph.nodes.push_back(SelectNode{pairs, graph.output});
  graph.output_kind = OutputKind::hidden;
  return graph;
}

std::vector<float> rows_of(uint32_t length) {
  std::vector<float> rows(length * kFrameWidth);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i + 1);
  return rows;
}

}  // namespace

TEST("windows begin where they also end, and each has a row of outputs", "[streams]") {
  const test::AlignedBytes file = test::graph_file(framer(), "framer");
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.batch = 3;
  options.chunk = options.logit_rows = 40;
  const test::OpenSession session(model, options);
  const std::vector<uint32_t> lengths = {9, 4, 13};
  std::vector<float> rows;
  for (const uint32_t length : lengths) {
    const std::vector<float> one = rows_of(length);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  mote_error error{};
  REQUIRE(test::encode_rows(session.get(), lengths, rows, &error) == MOTE_OK);
  uint32_t output = 0;
  for (const uint32_t length : lengths) {
    const std::vector<float> own = rows_of(length);
    for (uint32_t first = 0; first + kTaps <= length; first += kStride, ++output) {
      const float* values = mote_session_output(session.get(), output);
      REQUIRE(values != nullptr);
      for (uint32_t i = 0; i < kTaps * kFrameWidth; ++i) {
        const float before = first == 0 ? 0.0f : own[(first - kStride) * kFrameWidth + i];
        TEST_ASSERT_EQUAL_FLOAT(before, values[i]);
        TEST_ASSERT_EQUAL_FLOAT(own[first * kFrameWidth + i], values[kTaps * kFrameWidth + i]);
      }
    }
  }
  TEST_ASSERT_NULL(mote_session_output(session.get(), output));
}

TEST("a sequence too short for a window, or with more windows than room for outputs, is refused",
     "[streams]") {
  const test::AlignedBytes file = test::graph_file(framer(), "framer");
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = 40;
  options.logit_rows = 3;
  const test::OpenSession session(model, options);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, test::encode_rows(session.get(), {3}, rows_of(3), &error));
  TEST_ASSERT_EQUAL_STRING("sequence 0 has 3 rows; this model needs at least 4", error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::encode_rows(session.get(), {9}, rows_of(9), &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, test::encode_rows(session.get(), {10}, rows_of(10), &error));
  TEST_ASSERT_EQUAL_STRING("outputs of 4 rows, the session has room for 3", error.text);
  const int32_t id = 0;
  const uint32_t length = 1;
  const mote_batch ids{&id, nullptr, &length, 1, nullptr, 0, nullptr, {}, {}, {}};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_encode(session.get(), &ids, &error));
}

TEST("frames, and what is selected of groups, are of the streams that they name", "[streams]") {
  Graph graph = framer();
  mote_error error{};
  std::get<FramesNode>(graph.nodes[1]).before = kTaps;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  graph = framer();
  std::get<FramesNode>(graph.nodes[1]).taps = kTaps + 1;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  graph = framer();
  std::get<FramesNode>(graph.nodes[2]).out = std::get<FramesNode>(graph.nodes[2]).in;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
}
