// SPDX-License-Identifier: Apache-2.0
//
// Streams whose rows are places of pictures of any size.
#include <string>

#include "runtime/file/model.h"
#include "tests/support/graph_file.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kLeast = 3, kWidth = 4;

/// Pictures of one channel, patches of 2 x 2 pixels, whose rows become places, then windows of 2 x 2, and a
/// mean. `add` adds what is tried before the mean.
struct PlacesGraph {
  Graph graph = test::bare_graph(1, kWidth, 64);
  Unit places, windows;
  View tokens, lines, squares;
};
PlacesGraph places_graph(const std::function<void(PlacesGraph&)>& add = [](PlacesGraph&) {}) {
  PlacesGraph made;
  Graph& graph = made.graph;
  const auto value = [&](Unit unit) { return test::add_value(graph, kWidth, unit); };
  graph.picture.height = graph.picture.width = 8;
  graph.picture.channels = 1;
  graph.picture.patch = 2;
  graph.picture.any_size = true;
  made.tokens = value(Unit::token);
  graph.nodes.push_back(InputNode{made.tokens});
  made.places = graph.add_places({1, 1}, kLeast);
  made.windows = graph.add_places({2, 2}, kLeast);
  made.lines = value(made.places);
  made.squares = value(made.windows);
  graph.nodes.push_back(GridGatherNode{{}, {}, 1, made.tokens, made.lines});
  graph.nodes.push_back(GridGatherNode{{}, {2, 1}, 1, made.lines, made.squares});
  add(made);
  graph.output = value(Unit::sequence);
  graph.nodes.push_back(PoolNode{mote::PoolKind::mean, made.squares, graph.output});
  graph.output_kind = OutputKind::embedding;
  return made;
}

std::string refusal(
    const std::function<void(PlacesGraph&)>& add,
    const std::function<void(mote::file::Model*)>& change = [](mote::file::Model*) {}) {
  mote_error error{};
  const mote_status status = test::open_changed(places_graph(add).graph, &error, change);
  return status == MOTE_OK ? std::string() : std::string(error.text);
}

/// Changes the first stream by the grid.
std::string refusal_of_stream(bool (*change)(mote::file::Stream*)) {
  return refusal([](PlacesGraph&) {},
                 [=](mote::file::Model* root) {
                   for (const mote::file::Stream* stream : *root->programs()->Get(0)->streams()) {
                     if (stream->grid_times() == 0) continue;
                     REQUIRE(change(const_cast<mote::file::Stream*>(stream)));
                     return;
                   }
                 });
}

}  // namespace

TEST("the most rows of a picture are those of the worst sides, those of several pictures a bound",
     "[grid_rows]") {
  for (const auto& [times, every] : {std::pair{1u, 1u}, {1u, 2u}, {7u, 7u}, {7u, 14u}, {4u, 32u}, {3u, 2u}}) {
    for (const uint32_t least : {1u, 3u, 7u, 13u}) {
      for (const uint32_t patches : {0u, 1u, 12u, 64u, 196u, 500u, 3136u}) {
        const mote::GridScale scale{times, every};
        uint64_t most = 0;
        for (uint32_t lines = least; lines <= patches; ++lines) {
          for (uint32_t columns = least; lines * columns <= patches; ++columns)
            most = std::max(most, uint64_t{scale.of(lines)} * scale.of(columns));
        }
        CAPTURE(times, every, least, patches);
        CHECK(mote::most_grid_rows(scale, least, patches, 1) == most);
        // The pictures are equal, of any sides, and as many as there is room for.
        for (uint32_t lines = least; lines <= patches && lines < least + 30; ++lines) {
          for (uint32_t columns = least; lines * columns <= patches && columns < least + 30; ++columns) {
            const uint64_t pictures = patches / (lines * columns);
            const uint64_t rows = pictures * scale.of(lines) * scale.of(columns);
            if (rows > mote::most_grid_rows(scale, least, patches, pictures)) FAIL(lines << " x " << columns);
          }
        }
      }
    }
  }
  CHECK(mote::most_grid_rows({4096, 1}, 1, 1u << 24, 1u << 20) > uint64_t{1} << 40);  // and nothing overflows
}

TEST("rows by the picture's size are refused where pictures have one, or rows would be too many",
     "[grid_rows]") {
  const auto says = test::says;
  CHECK(refusal([](PlacesGraph&) {}).empty());
  CHECK(says(refusal([](PlacesGraph&) {},
                     [](mote::file::Model* root) {
                       using mote::file::Feature;
                       root->mutate_required_features(root->required_features() & ~Feature::grid_sizes);
                     }),
             "1 places for every 1 patches"));
  CHECK(says(refusal_of_stream([](mote::file::Stream* stream) { return stream->mutate_grid_times(5000); }),
             "5000 places for every 1 patches"));
  CHECK(says(refusal_of_stream([](mote::file::Stream* stream) { return stream->mutate_grid_least(0); }),
             "pictures of at least 0 on each side"));
  CHECK(says(refusal_of_stream([](mote::file::Stream* stream) { return stream->mutate_grid_least(5000); }),
             "pictures of at least 5000 on each side"));
  CHECK(says(refusal([](PlacesGraph&) {}, [](mote::file::Model* root) { root->mutate_context(1u << 24); }),
             "for a context of 16777216"));
  // A group of places, and places of groups.
  CHECK(says(refusal([](PlacesGraph& made) {
               const View more = test::add_value(made.graph, kWidth, made.graph.add_groups(made.places, 2));
               made.graph.nodes.push_back(FramesNode{1, 0, made.lines, more});
             }),
             "has groups of a fixed number of rows, or of places"));
  CHECK(says(refusal([](PlacesGraph& made) { made.graph.groups[0].ratio = 2; }), "1 places for every 1"));
}

TEST("operations that count rows from tokens take none that are by the picture's size", "[grid_rows]") {
  const auto says = test::says;
  CHECK(says(refusal([](PlacesGraph& made) {
               const View out = test::add_value(made.graph, kWidth, made.places);
               made.graph.nodes.push_back(FramesNode{1, 0, made.tokens, out});
             }),
             "out has no row for a row or a group of rows of in"));
  CHECK(says(refusal([](PlacesGraph& made) {
               const View out = test::add_value(made.graph, kWidth, made.places);
               made.graph.nodes.push_back(StackRowsNode{made.tokens, out});
             }),
             "out has no row for a group of rows of in"));
  CHECK(says(refusal([](PlacesGraph& made) {
               const View out = test::add_value(made.graph, kWidth, Unit::selected);
               made.graph.nodes.push_back(SelectNode{made.lines, out});
             }),
             "in has rows by the picture's size"));
}

TEST("gathered places are refused whose windows do not fit the streams", "[grid_rows]") {
  const auto gathers = [](WindowOrder in, WindowOrder out, uint32_t reach) {
    return refusal([=](PlacesGraph& made) {
      const View made_of = test::add_value(made.graph, reach * reach * kWidth, made.windows);
      made.graph.nodes.push_back(GridGatherNode{in, out, reach, made.lines, made_of});
    });
  };
  const auto says = test::says;
  CHECK(gathers({}, {2, 1}, 1).empty());
  CHECK(gathers({}, {}, 2).empty());
  CHECK(says(gathers({}, {0, 0}, 1), "out has windows of 0"));
  CHECK(says(gathers({}, {3, 0}, 1), "out has windows of 3"));
  CHECK(says(gathers({}, {2, 2}, 1), "shifted by 2"));
  CHECK(says(gathers({2, 0}, {}, 1), "in has windows of 2"));
  CHECK(says(refusal([](PlacesGraph& made) {
               const View out = test::add_value(made.graph, kWidth, Unit::token);
               made.graph.nodes.push_back(GridGatherNode{{}, {}, 1, made.lines, out});
             }),
             "out has a row for each token"));
  CHECK(says(refusal([](PlacesGraph& made) {
               const View in = test::add_value(made.graph, kWidth, made.graph.add_groups(Unit::token, 1));
               const View out = test::add_value(made.graph, kWidth, made.places);
               made.graph.nodes.push_back(FramesNode{1, 0, made.tokens, in});
               made.graph.nodes.push_back(GridGatherNode{{}, {}, 1, in, out});
             }),
             "in has no rows by the picture's size"));
  CHECK(says(refusal([](PlacesGraph& made) {
               const View out = test::add_value(made.graph, kWidth, made.places);
               made.graph.nodes.push_back(GridGatherNode{{}, {}, 0, made.lines, out});
             }),
             "0 x 0 places side by side"));
}

TEST("attention within windows is refused whose state or biases are of others", "[grid_rows]") {
  const auto attends = [](GridPlaces state, uint32_t group, uint32_t bias_rows) {
    return refusal([=](PlacesGraph& made) {
      Graph& graph = made.graph;
      graph.caches.push_back({1, kWidth, 0, true, kWidth, 1});
      graph.caches.back().places = state;
      graph.weights.push_back({"bias",
                               mote::DType::f32,
                               true,
                               bias_rows,
                               group,
                               {},
                               std::vector<float>(size_t{bias_rows} * group)});
      graph.nodes.push_back(KvStoreNode{0, made.squares, made.squares});
      const View out = test::add_value(graph, kWidth, made.windows);
      AttentionNode node{0, 1, 1.0f, made.squares, out};
      node.bias = 0;
      node.group = group;
      node.windows = true;
      graph.nodes.push_back(node);
    });
  };
  const auto says = test::says;
  CHECK(attends({2, 2}, 4, 4).empty());
  CHECK(attends({2, 2}, 4, 16).empty());
  CHECK(says(attends({2, 2}, 4, 8), "bias is 8 x 4 for windows of 4"));
  CHECK(says(attends({2, 2}, 9, 9), "windows of 9 rows of a stream of 2 places"));
  CHECK(says(attends({1, 1}, 4, 4), "the state 1 for every 1"));
  CHECK(says(attends({}, 4, 4), "rows for parts of tokens, which no state keeps"));
}

TEST("a session with room for no picture opens, and refuses each", "[grid_rows]") {
  const test::AlignedBytes file = test::graph_file(places_graph().graph, "places");
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = options.logit_rows = 8;
  const test::OpenSession session(model, options);
  const std::vector<float> values(size_t{9} * kWidth);
  mote_error error{};
  for (const uint32_t length : {8u, 9u}) {
    mote_batch batch{};
    batch.values = values.data();
    batch.lengths = &length;
    batch.count = 1;
    CHECK(mote_encode(session.get(), &batch, &error) != MOTE_OK);
  }
}

TEST("a picture's windows are those of its lines, filled up with zeros", "[grid_rows]") {
  const test::AlignedBytes file = test::graph_file(places_graph().graph, "places");
  const test::OpenModel model(file);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  // 3 x 5 patches are 4 x 6 places, of which 9 are zeros.
  const uint32_t length = 15, columns = 5;
  std::vector<float> values(size_t{length} * kWidth, 2.0f);
  mote_batch batch{};
  batch.values = values.data();
  batch.lengths = &length;
  batch.columns = &columns;
  batch.count = 1;
  REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
  for (uint32_t i = 0; i < kWidth; ++i)
    TEST_ASSERT_EQUAL_FLOAT(2.0f * 15 / 24, mote_session_output(session.get(), 0)[i]);
}
