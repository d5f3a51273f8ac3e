// SPDX-License-Identifier: Apache-2.0
//
// Streams of rows: programs some of whose rows stand for several tokens.
#include <cstring>

#include "tests/support/stream_case.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kNarrow = 6, kRatio = 4, kWide = kNarrow * kRatio, kHeads = 2, kHeadDim = 8;

std::vector<float> numbers(uint32_t rows, uint32_t cols, uint32_t seed) {
  std::vector<float> values(size_t{rows} * cols);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 11 + seed * 17) * (i + 5) % 43) / 64.0f - 0.33f;
  return values;
}

enum class Shape { wide, groups, groups_of_groups };

/// An encoder of floats: one layer of attention over rows of kWide columns, then their mean. The rows are the
/// caller's, or are stacked of the caller's narrow ones at once or in two steps.
Graph encoder(Shape shape) {
  Graph graph = test::bare_graph(16, kWide, 400);
  Unit unit = Unit::token;
  const auto value = [&](uint32_t width) { return test::add_value(graph, width, unit); };
  const auto weight = [&](uint32_t rows, uint32_t cols, bool row_major = false) {
    const auto index = static_cast<int32_t>(graph.weights.size());
    graph.weights.push_back({"w" + std::to_string(index),
                             mote::DType::f32,
                             row_major,
                             rows,
                             cols,
                             {},
                             numbers(rows, cols, static_cast<uint32_t>(index))});
    return index;
  };
  View x = value(shape == Shape::wide ? kWide : kNarrow);
  graph.nodes.push_back(InputNode{x});
  const uint32_t steps = shape == Shape::groups_of_groups ? 2 : 1;
  for (uint32_t i = 0; shape != Shape::wide && i < steps; ++i) {
    const uint32_t ratio = steps == 1 ? kRatio : 2;
    unit = graph.add_groups(unit, ratio);
    const View stacked = value(x.width * ratio);
    graph.nodes.push_back(StackRowsNode{x, stacked});
    x = stacked;
  }
  const uint32_t width = kHeads * kHeadDim;
  const View q = value(width), k = value(width), v = value(width), attended = value(width),
             angles = value(kHeadDim);
  for (const View& out : {q, k, v}) {
    graph.nodes.push_back(LinearNode{weight(width, kWide), -1, mote::Activation::none, x, out, std::nullopt});
  }
  graph.nodes.push_back(RopeTableNode{weight(1, kHeadDim / 2, true), 1.0f, angles});
  graph.nodes.push_back(RopeNode{mote::RopeKind::half, kHeads, angles, q});
  graph.nodes.push_back(RopeNode{mote::RopeKind::half, kHeads, angles, k});
  graph.nodes.push_back(KvStoreNode{0, k, v});
  graph.nodes.push_back(AttentionNode{0, kHeads, 2.5f, q, attended});
  graph.nodes.push_back(LinearNode{weight(kWide, width), -1, mote::Activation::gelu, attended, x, x});
  unit = Unit::sequence;
  graph.output = value(kWide);
  graph.nodes.push_back(PoolNode{mote::PoolKind::mean, x, graph.output});
  graph.output_kind = OutputKind::embedding;
  graph.caches = {{kHeads, kHeadDim, 0, true, 0, shape == Shape::wide ? 1 : kRatio}};
  return graph;
}

const test::OpenModel& model(Shape shape) {
  static const test::AlignedBytes files[] = {test::graph_file(encoder(Shape::wide), "wide"),
                                             test::graph_file(encoder(Shape::groups), "groups"),
                                             test::graph_file(encoder(Shape::groups_of_groups), "nested")};
  static const test::OpenModel models[] = {test::OpenModel(files[0]), test::OpenModel(files[1]),
                                           test::OpenModel(files[2])};
  return models[static_cast<size_t>(shape)];
}

/// Rows of sequences of these lengths, which do not depend on the batch.
std::vector<float> narrow_rows(const std::vector<uint32_t>& lengths) {
  std::vector<float> values;
  for (const uint32_t length : lengths) {
    const auto rows = numbers(length, kNarrow, length);
    values.insert(values.end(), rows.begin(), rows.end());
  }
  return values;
}

/// The same stacked by hand.
std::vector<float> wide_rows(const std::vector<uint32_t>& lengths) {
  std::vector<float> values;
  for (const uint32_t length : lengths) {
    std::vector<float> rows = numbers(length, kNarrow, length);
    rows.resize((length + kRatio - 1) / kRatio * kWide);
    values.insert(values.end(), rows.begin(), rows.end());
  }
  return values;
}

std::vector<float> encode(mote_session* session, const std::vector<uint32_t>& lengths,
                          const std::vector<float>& values) {
  std::vector<mote_row> rows;
  for (uint32_t s = 0; s < lengths.size(); ++s) rows.insert(rows.end(), lengths[s], {s, 0, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.values = values.data();
  mote_error error{};
  const mote_status status = mote_compute(session, &call, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  std::vector<float> all;
  for (uint32_t s = 0; s < lengths.size(); ++s) {
    const float* output = mote_session_output(session, s);
    REQUIRE(output != nullptr);
    all.insert(all.end(), output, output + kWide);
  }
  REQUIRE(mote_session_output(session, static_cast<uint32_t>(lengths.size())) == nullptr);
  return all;
}

mote_session_options options_of(Shape shape, mote_isa isa, uint32_t batch, uint32_t chunk) {
  mote_session_options options = mote_session_options_default(model(shape).get());
  options.isa = isa;
  options.batch = batch;
  options.chunk = chunk;
  options.logit_rows = batch;
  return options;
}

std::vector<uint32_t> groups_of(std::vector<uint32_t> lengths) {
  for (uint32_t& length : lengths) length = (length + kRatio - 1) / kRatio;
  return lengths;
}

const std::vector<uint32_t> kLengths = {5, 1, 400, 4, 133, 8, 3, 7, 260, 64, 2, 6};

/// Of the nested groups' streams: tokens, sequences, 2 and 2 of 2.
std::string refusal(uint32_t index, const std::function<void(mote::file::Stream*)>& change) {
  return test::stream_refusal(encoder(Shape::groups_of_groups), index, change);
}

}  // namespace

TEST("rows stacked by a program give the bits of rows that the caller stacked", "[streams]") {
  const auto narrow = narrow_rows(kLengths), wide = wide_rows(kLengths);
  for (const mote_isa isa : test::all_families()) {
    CAPTURE(mote_isa_name(isa));
    const test::OpenSession by_hand(model(Shape::wide), options_of(Shape::wide, isa, 12, 900));
    const auto expected = encode(by_hand.get(), groups_of(kLengths), wide);
    for (const Shape shape : {Shape::groups, Shape::groups_of_groups}) {
      const test::OpenSession session(model(shape), options_of(shape, isa, 12, 900));
      TEST_ASSERT_TRUE(expected == encode(session.get(), kLengths, narrow));
    }
  }
}

TEST("stacked rows of a batch, in passes and lanes of any threads, are those of each alone", "[streams]") {
  const auto narrow = narrow_rows(kLengths);
  std::vector<float> expected;
  const test::OpenSession alone(model(Shape::groups), options_of(Shape::groups, MOTE_ISA_AUTO, 1, 400));
  for (const uint32_t length : kLengths) {
    const auto one = encode(alone.get(), {length}, narrow_rows({length}));
    expected.insert(expected.end(), one.begin(), one.end());
  }
  for (const uint32_t threads : {1u, 2u, 3u}) {
    CAPTURE(threads);
    mote_posix_pool* pool = mote_posix_pool_create(threads);
    {
      for (const Shape shape : {Shape::groups, Shape::groups_of_groups}) {
        mote_session_options options = options_of(shape, MOTE_ISA_AUTO, 12, 900);
        options.platform = mote_posix_pool_platform(pool);
        options.threads = threads;
        const test::OpenSession session(model(shape), options);
        TEST_ASSERT_TRUE(expected == encode(session.get(), kLengths, narrow));
        TEST_ASSERT_TRUE(expected == encode(session.get(), kLengths, narrow));
      }
    }
    mote_posix_pool_destroy(pool);
  }
}

TEST("a stream of groups names an earlier stream of tokens or groups and a ratio", "[streams]") {
  using mote::file::Stream;
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_ratio(0); }), "groups of 0 rows"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_needs(0); }), "groups that need 0 rows"));
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_needs(5000); }), "groups that need 5000 rows"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_needs(2); }), "cannot be stacked"));
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_ratio(UINT32_MAX); }), "groups of 4294967295"));
  TEST_ASSERT_TRUE(
      test::says(refusal(3, [](Stream* s) { s->mutate_ratio(4000); }), "stream 3 has groups of 4000"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_of(2); }), "no earlier one"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_of(3); }), "no earlier one"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_of(99); }), "stream 99"));
  TEST_ASSERT_TRUE(test::says(refusal(2, [](Stream* s) { s->mutate_of(1); }), "no earlier one"));
}

TEST("a program has one stream of tokens, the first, and no two of the same rows", "[streams]") {
  using mote::file::Stream;
  using mote::file::StreamKind;
  TEST_ASSERT_TRUE(
      test::says(refusal(0, [](Stream* s) { s->mutate_kind(StreamKind::selected); }), "stream 0"));
  TEST_ASSERT_TRUE(test::says(refusal(1, [](Stream* s) { s->mutate_kind(StreamKind::token); }), "stream 1"));
  TEST_ASSERT_TRUE(
      test::says(refusal(2, [](Stream* s) { s->mutate_kind(StreamKind::sequence); }), "stream 2"));
  TEST_ASSERT_TRUE(test::says(refusal(0, [](Stream* s) { s->mutate_row_bytes(63); }), "plan of 63 bytes"));
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE,
                        test::open_changed(encoder(Shape::groups), &error, [](mote::file::Model* root) {
                          auto* streams = root->mutable_programs()->GetMutableObject(0)->mutable_streams();
                          streams->GetMutableObject(2)->mutate_kind(static_cast<StreamKind>(9));
                        }));
  TEST_ASSERT_TRUE(test::says(error.text, "stream 2 is of an unknown kind"));
  TEST_ASSERT_EQUAL_INT(
      MOTE_CORRUPT_FILE, test::open_changed(encoder(Shape::groups), &error, [](mote::file::Model* root) {
        root->mutable_programs()->GetMutableObject(0)->mutable_buffers()->GetMutableObject(0)->mutate_stream(
            3);
      }));
  TEST_ASSERT_TRUE(test::says(error.text, "names stream 3 of 3"));
}

TEST("stacked rows are of the stream whose groups they are, and as wide as those", "[streams]") {
  Graph graph = encoder(Shape::groups);
  std::get<StackRowsNode>(graph.nodes[1]).out.width = kWide - kNarrow;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "op 1 StackRows: out has width 18 for 4 rows of 6"));
  graph = encoder(Shape::groups_of_groups);
  std::get<StackRowsNode>(graph.nodes[2]).in = std::get<StackRowsNode>(graph.nodes[1]).in;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "op 2 StackRows: out has no row for a group of rows of in"));
}

TEST("a state has a position for as many tokens as the rows that use it", "[streams]") {
  Graph graph = encoder(Shape::groups);
  mote_error error{};
  graph.caches[0].ratio = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(test::says(error.text, "k has a row for 4 tokens, the state a position for 1"));
  graph.caches[0].ratio = 0;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  INFO(error.text);
  TEST_ASSERT_TRUE(test::says(error.text, "k has a row for 4 tokens, the state a position for 0"));
}

TEST("programs that append rows have no groups, which a chunk could cut, and no rows of sequences",
     "[streams]") {
  mote_error error{};
  const auto append = [](mote::file::Model* root) {
    root->mutable_states()->GetMutableObject(0)->mutate_bidirectional(false);
    root->mutable_programs()->GetMutableObject(0)->mutate_kind(mote::file::ProgramKind::append);
  };
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(encoder(Shape::wide), &error, append));
  TEST_ASSERT_TRUE(test::says(error.text, "stream 1 is of sequences, in a program that appends rows"));
  Graph graph = encoder(Shape::groups);
  graph.nodes.pop_back();
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error, append));
  TEST_ASSERT_TRUE(test::says(error.text, "in a program that appends rows"));
}

TEST("a pooling whose padding is no token, or is not of the last row of tokens, is refused", "[streams]") {
  const auto refused = [](Shape shape, mote::PoolKind kind, int32_t padding, const char* words) {
    Graph graph = encoder(shape);
    auto& pool = std::get<PoolNode>(graph.nodes.back());
    pool.kind = kind;
    pool.padding = padding;
    mote_error error{};
    CAPTURE(words);
    TEST_ASSERT_NOT_EQUAL(MOTE_OK, test::open_changed(graph, &error));
    CAPTURE(std::string(error.text));
    TEST_ASSERT_TRUE(test::says(error.text, words));
  };
  refused(Shape::wide, mote::PoolKind::last, 16, "token 16 is not in the vocabulary");
  refused(Shape::wide, mote::PoolKind::last, -2, "padding is no token");
  refused(Shape::wide, mote::PoolKind::mean, 3, "padding is of the last row only");
  refused(Shape::groups, mote::PoolKind::last, 3, "in is not per token");
}
