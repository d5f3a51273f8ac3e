// SPDX-License-Identifier: Apache-2.0
//
// Programs of two kinds in one model: sources that are encoded once, and tokens that attend to them.
#include "tests/support/source_model.h"

#include "tests/support/test_model.h"

using test::says;
using test::SourceRows;

namespace {

using Ids = std::vector<int32_t>;

const test::AlignedBytes& file_of(SourceRows rows, bool deep) {
  static std::map<std::pair<SourceRows, bool>, test::AlignedBytes> files;
  auto found = files.find({rows, deep});
  if (found == files.end())
    found = files.emplace(std::pair(rows, deep), test::graph_file(test::source_graph(rows, deep), "source"))
                .first;
  return found->second;
}

const test::OpenModel& deep_model() {
  static const test::OpenModel model(file_of(SourceRows::ids, true));
  return model;
}

mote_session_options options_of(const test::OpenModel& model, uint32_t batch = 1) {
  mote_session_options options = mote_session_options_default(model.get());
  options.batch = options.logit_rows = batch;
  return options;
}

/// Encodes sources for the sequences named, in this order.
mote_status encode(mote_session* session, const std::vector<std::pair<uint32_t, Ids>>& sources,
                   mote_error* error = nullptr) {
  std::vector<mote_row> rows;
  for (const auto& [sequence, ids] : sources) {
    for (const int32_t id : ids) rows.push_back({sequence, id, 0, 0});
  }
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = 1;
  return mote_compute(session, &call, error);
}

/// Of a program of floats; rows of `width` of them.
void encode_floats(mote_session* session, const std::vector<float>& values, uint32_t width) {
  const std::vector<mote_row> rows(values.size() / width, {0, 0, 0, 0});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = 1;
  call.values = values.data();
  mote_error error{};
  const mote_status status = mote_compute(session, &call, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
}

Ids ids(uint32_t count, uint32_t seed) { return test::some_ids(count, test::kSourceVocab, seed); }

std::vector<float> prefill(mote_session* session, const Ids& tokens, uint32_t sequence = 0) {
  return test::prefill(session, tokens, test::kSourceVocab, sequence);
}

std::vector<float> decode(mote_session* session, int32_t id, uint32_t batch, uint32_t sequence) {
  Ids step(batch, -1);
  step[sequence] = id;
  REQUIRE(mote_decode(session, step.data(), nullptr) == MOTE_OK);
  return test::logits_of(session, test::kSourceVocab, sequence);
}

/// What a session of its own gives for the tokens over the source.
std::vector<float> alone(const Ids& source, const Ids& tokens) {
  const test::OpenSession session(deep_model(), options_of(deep_model()));
  REQUIRE(encode(session.get(), {{0, source}}) == MOTE_OK);
  return prefill(session.get(), tokens);
}

}  // namespace

TEST("attention to a source gives the bits of attention to the same keys in one program", "[sources]") {
  const test::AlignedBytes joint_file = test::graph_file(test::joint_graph(), "joint");
  const test::OpenModel joint(joint_file), model(file_of(SourceRows::ids, false));
  for (const uint32_t threads : {1u, 3u}) {
    mote_posix_pool* pool = mote_posix_pool_create(threads);
    for (const mote_isa isa : test::all_families()) {
      for (const mote_kv_dtype kv : {MOTE_KV_F32, MOTE_KV_F16, MOTE_KV_BF16, MOTE_KV_I8}) {
        mote_session_options options = options_of(joint), of_source = options_of(model);
        TEST_ASSERT_EQUAL_UINT32(test::kSourceContext, of_source.chunk);
        options.chunk = test::kSourceContext;
        for (mote_session_options* one : {&options, &of_source}) {
          one->isa = isa;
          one->kv_dtype = kv;
          one->platform = mote_posix_pool_platform(pool);
          one->threads = threads;
        }
        const test::OpenSession one(joint, options), two(model, of_source);
        for (const uint32_t n : {1u, 5u, 128u, 300u, 700u}) {
          CAPTURE(mote_isa_name(isa), kv, n, threads);
          const Ids all = ids(n, n);
          REQUIRE(mote_session_truncate(one.get(), 0, 0, nullptr) == MOTE_OK);
          REQUIRE(mote_session_truncate(two.get(), 0, 0, nullptr) == MOTE_OK);
          REQUIRE(encode(two.get(), {{0, all}}) == MOTE_OK);
          TEST_ASSERT_TRUE(prefill(one.get(), all) == prefill(two.get(), {all.back()}));
        }
      }
    }
    mote_posix_pool_destroy(pool);
  }
}

TEST("a source of groups is that of rows the caller stacked", "[sources]") {
  const test::OpenModel pairs(file_of(SourceRows::pairs, false)), wide(file_of(SourceRows::floats, false));
  const test::OpenSession one(pairs, options_of(pairs)), other(wide, options_of(wide));
  for (const uint32_t rows : {1u, 2u, 7u, 500u, 699u}) {
    CAPTURE(rows);
    std::vector<float> values(size_t{rows} * test::kSourceWidth / 2);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 31) / 16.0f - 1.0f;
    REQUIRE(mote_session_truncate(one.get(), 0, 0, nullptr) == MOTE_OK);
    REQUIRE(mote_session_truncate(other.get(), 0, 0, nullptr) == MOTE_OK);
    encode_floats(one.get(), values, test::kSourceWidth / 2);
    values.resize((rows + 1) / 2 * test::kSourceWidth);
    encode_floats(other.get(), values, test::kSourceWidth);
    TEST_ASSERT_TRUE(prefill(one.get(), {3, 1, 4}) == prefill(other.get(), {3, 1, 4}));
  }
}

TEST("sequences have sources of their own, encoded in any order, together or one after the other",
     "[sources]") {
  const Ids sources[] = {ids(9, 1), ids(300, 2), ids(1, 3)}, tokens[] = {ids(5, 4), ids(2, 5), ids(40, 6)};
  const test::OpenSession session(deep_model(), options_of(deep_model(), 3));
  REQUIRE(encode(session.get(), {{2, sources[2]}, {0, sources[0]}}) == MOTE_OK);
  TEST_ASSERT_TRUE(prefill(session.get(), tokens[2], 2) == alone(sources[2], tokens[2]));
  REQUIRE(encode(session.get(), {{1, sources[1]}}) == MOTE_OK);
  for (const uint32_t s : {0u, 1u})
    TEST_ASSERT_TRUE(prefill(session.get(), tokens[s], s) == alone(sources[s], tokens[s]));
  // Tokens of all in one step.
  const Ids next = {7, 8, 9};
  REQUIRE(mote_decode(session.get(), next.data(), nullptr) == MOTE_OK);
  for (uint32_t s = 0; s < 3; ++s) {
    Ids all = tokens[s];
    all.push_back(next[s]);
    TEST_ASSERT_TRUE(test::logits_of(session.get(), test::kSourceVocab, s) == alone(sources[s], all));
  }
}

TEST("a source stays when tokens are truncated, and gives way to the next", "[sources]") {
  const Ids first = ids(20, 1), second = ids(150, 2), tokens = ids(6, 3);
  const test::OpenSession session(deep_model(), options_of(deep_model()));
  REQUIRE(encode(session.get(), {{0, first}}) == MOTE_OK);
  prefill(session.get(), ids(30, 9));
  REQUIRE(mote_session_truncate(session.get(), 0, 0, nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(prefill(session.get(), tokens) == alone(first, tokens));
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, encode(session.get(), {{0, second}}, &error));
  TEST_ASSERT_TRUE(says(error.text, "sequence 0 has 6 tokens, which attend to its source"));
  REQUIRE(mote_session_truncate(session.get(), 0, 0, nullptr) == MOTE_OK);
  REQUIRE(encode(session.get(), {{0, second}}) == MOTE_OK);
  TEST_ASSERT_TRUE(prefill(session.get(), tokens) == alone(second, tokens));
}

TEST("tokens without a source, and a source too long, are refused by name", "[sources]") {
  mote_session_options options = options_of(deep_model(), 2);
  options.chunk = 100;
  const test::OpenSession session(deep_model(), options);
  mote_error error{};
  const int32_t id = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_prefill(session.get(), 1, &id, 1, MOTE_LOGITS_LAST, &error));
  TEST_ASSERT_TRUE(says(error.text, "sequence 1 has no source: compute program encode"));
  const mote_generation generation = mote_generation_default();
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_generation_begin(session.get(), &id, 1, &generation, &error));
  REQUIRE(encode(session.get(), {{1, ids(3, 1)}}) == MOTE_OK);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_prefill(session.get(), 1, &id, 1, MOTE_LOGITS_LAST, &error));
  const Ids both = {1, 1};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_decode(session.get(), both.data(), &error));
  TEST_ASSERT_TRUE(says(error.text, "sequence 0 has no source"));
  REQUIRE(mote_session_truncate(session.get(), 1, 0, nullptr) == MOTE_OK);
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, encode(session.get(), {{0, ids(101, 1)}}, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        encode(session.get(), {{0, ids(3, 1)}, {1, ids(1, 1)}, {0, ids(3, 1)}}, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, encode(session.get(), {{2, ids(3, 1)}}, &error));
  const uint32_t length = 101;
  const Ids many = ids(101, 1);
  mote_batch batch{};
  batch.ids = many.data();
  batch.lengths = &length;
  batch.count = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_CONTEXT_FULL, mote_encode(session.get(), &batch, &error));
  TEST_ASSERT_TRUE(says(error.text, "reads at most 100 at once"));
}

TEST("a source whose run was broken off is none", "[sources]") {
  const test::OpenSession session(deep_model(), options_of(deep_model()));
  REQUIRE(encode(session.get(), {{0, ids(5, 1)}}) == MOTE_OK);
  const mote_row rows[] = {{0, 3, 0, 0}, {0, 4, 0, 0}};
  mote_rows call{};
  call.rows = rows;
  call.count = 2;
  call.program = 1;
  int done = 0;
  REQUIRE(mote_compute_begin(session.get(), &call, nullptr) == MOTE_OK);
  REQUIRE(mote_compute_step(session.get(), 3, &done, nullptr) == MOTE_OK);
  TEST_ASSERT_EQUAL_INT(0, done);
  REQUIRE(mote_session_truncate(session.get(), 0, 0, nullptr) == MOTE_OK);
  const int32_t id = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_prefill(session.get(), 0, &id, 1, MOTE_LOGITS_LAST, nullptr));
  REQUIRE(mote_compute_begin(session.get(), &call, nullptr) == MOTE_OK);
  while (done == 0) REQUIRE(mote_compute_step(session.get(), 1, &done, nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(prefill(session.get(), ids(4, 2)) == alone({3, 4}, ids(4, 2)));
}

TEST("mote_encode encodes the sources of the first sequences, with outputs for the rows asked for",
     "[sources]") {
  const test::OpenSession session(deep_model(), options_of(deep_model(), 2));
  Ids all = ids(7, 1);
  const uint32_t lengths[] = {4, 3}, asked[] = {6, 0};
  mote_program_info info{};
  mote_model_get_program(deep_model().get(), 0, &info);
  TEST_ASSERT_TRUE(info.whole == 0 && info.context == test::kTokenContext);
  mote_model_get_program(deep_model().get(), 1, &info);
  TEST_ASSERT_TRUE(info.whole == 1 && info.context == test::kSourceContext);
  mote_batch batch{};
  batch.ids = all.data();
  batch.lengths = lengths;
  batch.count = 2;
  REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
  TEST_ASSERT_NULL(mote_session_output(session.get(), 0));
  batch.rows = asked;
  batch.row_count = 2;
  REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
  TEST_ASSERT_NOT_NULL(mote_session_output(session.get(), 1));
  TEST_ASSERT_NULL(mote_session_logits(session.get(), 1));  // no logits
  int32_t id = 0;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_sample(session.get(), 0, &id, nullptr));
  TEST_ASSERT_TRUE(prefill(session.get(), {5}, 1) == alone({all.begin() + 4, all.end()}, {5}));
}

TEST("forks and reordered sequences have the sources of those they copy", "[sources]") {
  const Ids sources[] = {ids(40, 1), ids(200, 2), ids(3, 3)}, tokens = ids(6, 4);
  const test::OpenSession session(deep_model(), options_of(deep_model(), 3));
  REQUIRE(encode(session.get(), {{0, sources[0]}, {1, sources[1]}}) == MOTE_OK);
  for (const uint32_t s : {0u, 1u}) prefill(session.get(), tokens, s);
  REQUIRE(mote_session_fork(session.get(), 1, 2, nullptr) == MOTE_OK);
  Ids more = tokens;
  more.push_back(9);
  TEST_ASSERT_TRUE(decode(session.get(), 9, 3, 2) == alone(sources[1], more));
  const uint32_t from[] = {2, 0, 0};
  REQUIRE(mote_session_reorder(session.get(), from, nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(decode(session.get(), 9, 3, 1) == alone(sources[0], more));
  more.push_back(2);
  TEST_ASSERT_TRUE(decode(session.get(), 2, 3, 0) == alone(sources[1], more));
  // One of two that share a source gets another; the other keeps it.
  REQUIRE(mote_session_truncate(session.get(), 1, 0, nullptr) == MOTE_OK);
  REQUIRE(encode(session.get(), {{1, sources[2]}}) == MOTE_OK);
  TEST_ASSERT_TRUE(prefill(session.get(), tokens, 1) == alone(sources[2], tokens));
  more = tokens;
  more.push_back(9);
  TEST_ASSERT_TRUE(decode(session.get(), 9, 3, 2) == alone(sources[0], more));
}

TEST("a snapshot has the sources: what is restored goes on, and equal sessions give equal bytes",
     "[sources]") {
  const Ids sources[] = {ids(140, 1), ids(5, 2)}, tokens = ids(6, 4);
  const auto save = [](const test::OpenSession& session) {
    test::AlignedBytes state(mote_session_state_bytes(session.get()));
    size_t written = 0;
    REQUIRE(mote_session_save(session.get(), state.data(), state.size(), &written, nullptr) == MOTE_OK);
    REQUIRE(written == state.size());
    return state;
  };
  const auto same = [](const test::AlignedBytes& a, const test::AlignedBytes& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  };
  const test::OpenSession session(deep_model(), options_of(deep_model(), 2));
  REQUIRE(encode(session.get(), {{1, sources[1]}, {0, sources[0]}}) == MOTE_OK);
  const test::AlignedBytes only_sources = save(session);
  prefill(session.get(), tokens, 0);
  const test::AlignedBytes saved = save(session);

  mote_session_options larger = options_of(deep_model(), 3);
  larger.chunk = 600;
  const test::OpenSession other(deep_model(), larger), third(deep_model(), options_of(deep_model(), 2));
  REQUIRE(encode(other.get(), {{2, ids(9, 9)}}) == MOTE_OK);
  REQUIRE(mote_session_restore(other.get(), saved.data(), saved.size(), nullptr) == MOTE_OK);
  Ids more = tokens;
  more.push_back(9);
  TEST_ASSERT_TRUE(decode(other.get(), 9, 3, 0) == alone(sources[0], more));
  TEST_ASSERT_TRUE(prefill(other.get(), tokens, 1) == alone(sources[1], tokens));
  const int32_t id = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_prefill(other.get(), 2, &id, 1, MOTE_LOGITS_LAST, nullptr));
  REQUIRE(mote_session_restore(third.get(), saved.data(), saved.size(), nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(same(saved, save(third)));
  REQUIRE(mote_session_truncate(third.get(), 0, 0, nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(same(only_sources, save(third)));

  mote_session_options small = options_of(deep_model(), 2);
  small.chunk = 100;
  const test::OpenSession short_of_room(deep_model(), small);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT,
                        mote_session_restore(short_of_room.get(), saved.data(), saved.size(), &error));
  TEST_ASSERT_TRUE(says(error.text, "a source of 140 positions, the session has room for 100"));
}

TEST("convolutions keep their rows while sources are encoded, and are of appended tokens alone",
     "[sources]") {
  using namespace mote::convert;
  constexpr uint32_t kTaps = 3;
  Graph graph = test::source_graph(SourceRows::ids, true);
  graph.caches.push_back(conv_tail(kTaps, test::kSourceWidth));
  std::vector<float> taps(kTaps * test::kSourceWidth);
  for (size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<float>(i % 7) / 8.0f - 0.3f;
  graph.weights.push_back({"taps", mote::DType::f32, true, kTaps, test::kSourceWidth, {}, taps});
  const auto conv = [&](const View& x) {
    return CausalConvNode{3, mote::Activation::none, static_cast<int32_t>(graph.weights.size() - 1), -1, x,
                          x};
  };
  graph.nodes.insert(graph.nodes.begin() + 1, conv(std::get<EmbedNode>(graph.nodes[0]).out));
  const test::AlignedBytes file = test::graph_file(graph, "conv");
  const test::OpenModel model(file);
  const test::OpenSession session(model, options_of(model, 2)), whole(model, options_of(model, 2));
  const Ids tokens = ids(6, 4);
  for (const test::OpenSession* one : {&session, &whole})
    REQUIRE(encode(one->get(), {{0, ids(9, 1)}}) == MOTE_OK);
  std::vector<float> last;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    last = prefill(session.get(), {tokens[i]});
    REQUIRE(encode(session.get(), {{1, ids(20 + i, i)}}) == MOTE_OK);
  }
  TEST_ASSERT_TRUE(last == prefill(whole.get(), tokens));

  ProgramGraph& source = graph.more_programs[0];
  source.nodes.insert(source.nodes.begin() + 1, conv(std::get<EmbedNode>(source.nodes[0]).out));
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_TRUE(says(error.text, "CausalConv: state 3 is not of whole sequences"));
}
