// SPDX-License-Identifier: Apache-2.0
//
// What an operation costs a row grows at most as its operands do, whoever wrote them.
#include <memory>

#include "tests/support/count_blocks.h"
#include "tests/support/graph_file.h"
#include "tests/support/linear_model.h"
#include "tests/support/test_model.h"

namespace {

using namespace mote::convert;

/// An encoder of one operation: experts of one column that a row goes to all of, by routes that an embedding
/// gives and no Route made.
test::AlignedBytes routed_by_embedding(uint32_t experts, bool sums) {
  constexpr uint32_t kIds = 2;
  const uint32_t width = sums ? 1 : experts;
  Graph graph = test::bare_graph(kIds, width, 16);
  graph.output_kind = OutputKind::hidden;
  const auto embedded = [&](uint32_t columns) {
    const View out = test::add_value(graph, columns);
    const std::vector<float> ones(size_t{kIds} * columns, 1.0f);
    graph.weights.push_back(
        {"table" + std::to_string(columns), mote::DType::f32, true, kIds, columns, {}, ones});
    graph.nodes.push_back(EmbedNode{static_cast<int32_t>(graph.weights.size() - 1), out});
    return out;
  };
  const View x = embedded(1), routes = embedded(experts), out = test::add_value(graph, width);
  const uint32_t rows = experts * mote::kPanelRows;
  graph.weights.push_back(
      {"experts", mote::DType::f32, false, rows, 1, {}, std::vector<float>(size_t{rows}, 1.0f)});
  graph.nodes.push_back(
      ExpertsNode{experts, 2, -1, mote::Activation::none, sums, routes, x, out, std::nullopt});
  graph.output = test::add_value(graph, width, Unit::selected);
  graph.nodes.push_back(SelectNode{out, graph.output});
  return test::graph_file(graph, "experts");
}

/// A session of it.
struct Running {
  test::AlignedBytes file;
  test::OpenModel model;
  test::OpenSession session;

  explicit Running(test::AlignedBytes bytes)
      : file(std::move(bytes)), model(file), session(model, mote_session_options_default(model.get())) {}
};

void encode_one(const std::unique_ptr<Running>& running) {
  const int32_t id = 1;
  const uint32_t one = 1;
  const mote_batch batch{&id, nullptr, &one, 1, nullptr, 0, nullptr, {}, {}, {}};
  mote_error error{};
  const mote_status status = mote_encode(running->session.get(), &batch, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
}

}  // namespace

TEST("the work for a row grows as the experts that it goes to do, where no operation has chosen them") {
  for (const bool sums : {true, false}) {
    CAPTURE(sums);
    test::check_growth(
        128,
        [&](uint64_t n) {
          return std::make_unique<Running>(routed_by_embedding(static_cast<uint32_t>(n), sums));
        },
        encode_one);
  }
}
