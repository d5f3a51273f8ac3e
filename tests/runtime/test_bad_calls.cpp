// SPDX-License-Identifier: Apache-2.0
//
// Calls with null pointers, misaligned memory and numbers that no model has get a status, as their neighbours
// give.
#include <set>

#include "mote/bare.hpp"
#include "mote/beams.h"
#include "mote/sound.h"
#include "tests/support/stream_case.h"
#include "tests/support/test_model.h"

namespace {

const test::OpenModel& model() {
  static const test::OpenModel opened(test::golden_file("llama", "f32"));
  return opened;
}

}  // namespace

TEST("every status has a name of its own") {
  std::set<std::string> names;
  for (int status = MOTE_OK; status <= MOTE_WRONG_SNAPSHOT; ++status)
    names.insert(mote_status_name(static_cast<mote_status>(status)));
  constexpr size_t kStatuses = 14;
  TEST_ASSERT_EQUAL_UINT64(kStatuses + 1, names.size());
  TEST_ASSERT_EQUAL_UINT64(1, names.count("unknown status"));  // numbers between them
}

TEST("sampling refuses null pointers") {
  const test::OpenSession session(model(), test::small_options(model()));
  test::prefill(session.get(), test::some_ids(3, model().info().vocab), model().info().vocab);
  const mote_sampling sampling = mote_sampling_default();
  int32_t id = 0;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sample_begin(session.get(), nullptr, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sample_begin(nullptr, &sampling, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sample(session.get(), 0, nullptr, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_sample(nullptr, 0, &id, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sample(session.get(), 0, &id, nullptr));
}

TEST("beam search refuses memory that is not aligned, and more stop ids than continuations can be counted") {
  mote_session_options session_options = test::small_options(model());
  session_options.batch = session_options.logit_rows = 256;
  session_options.chunk = 256;
  const test::OpenSession session(model(), session_options);
  test::prefill(session.get(), test::some_ids(3, model().info().vocab), model().info().vocab);
  mote_beam_options options = mote_beam_options_default();
  options.beams = 2;
  options.max_tokens = 3;
  const size_t bytes = mote_beam_bytes(session.get(), &options);
  std::vector<uint64_t> memory(bytes / 8 + 2);
  mote_beam beams[256];
  auto* begin = reinterpret_cast<char*>(memory.data());
  TEST_ASSERT_EQUAL_INT(MOTE_NOT_ALIGNED,
                        mote_beam_search(session.get(), &options, begin + 4, bytes, beams, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_beam_search(session.get(), &options, begin, bytes, beams, nullptr));
  const int32_t stop = 2;
  options.beams = 256;
  options.stop_ids = &stop;  // which a count of bytes does not read
  options.stop_count = (1u << 24) - 1;
  options.ignore_model_stops = 1;
  TEST_ASSERT_EQUAL_UINT32(0, mote_beam_bytes(session.get(), &options));
  options.stop_count = UINT32_MAX;
  options.ignore_model_stops = 0;
  TEST_ASSERT_EQUAL_UINT32(0, mote_beam_bytes(session.get(), &options));
}

TEST("a file has no more stop ids than each token can be compared with") {
  using namespace mote::convert;
  const auto file_of = [](size_t stops) {
    Graph with = test::bare_graph(16, 16, 16);
    with.values = {{16, mote::DType::f32, Unit::token},
                   {16, mote::DType::f32, Unit::selected},
                   {16, mote::DType::f32, Unit::selected}};
    with.weights = {{"table", mote::DType::f32, false, 16, 16, {}, std::vector<float>(256, 0.5f)}};
    with.nodes = {EmbedNode{0, {0, 0, 16}}, SelectNode{{0, 0, 16}, {1, 0, 16}},
                  LinearNode{0, -1, mote::Activation::none, {1, 0, 16}, {2, 0, 16}, std::nullopt}};
    with.output = {2, 0, 16};
    return test::graph_file(
        with, "stops", [](size_t, std::byte*) {}, std::vector<int32_t>(stops, 3));
  };
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(file_of(4096), &error, [](auto*) {}));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(file_of(4097), &error, [](auto*) {}));
  TEST_ASSERT_TRUE(test::says(error.text, "4097 stop ids"));
}

TEST("rows of outputs of more tokens than there can be do not wrap") {
  mote::convert::Graph graph = test::bare_graph(1, 4, 64);
  const auto x = test::add_value(graph, 16),
             selected = test::add_value(graph, 4, mote::convert::Unit::selected);
  const auto parts = test::add_value(graph, 4, graph.add_parts(mote::convert::Unit::token, 4));
  graph.nodes = {mote::convert::InputNode{x}, mote::convert::SplitRowsNode{x, parts},
                 mote::convert::SelectNode{parts, selected}};
  graph.output = selected;
  graph.output_kind = mote::convert::OutputKind::hidden;
  const test::AlignedBytes file = test::graph_file(graph, "parts");
  const test::OpenModel opened(file);
  REQUIRE(mote_model_output_rows(opened.get(), 16) == 64);
  for (const uint32_t rows : {1u << 30, (1u << 30) + 1, UINT32_MAX})
    REQUIRE(mote_model_output_rows(opened.get(), rows) == UINT32_MAX);
}

TEST("features of a transform that there is none of take no bytes, at once") {
  mote_log_mel spec{};
  spec.mels = 80;
  for (const uint32_t fft : {UINT32_MAX - 1, 4294967290u, 1u << 31, MOTE_MOST_FFT + 2u, 401u, 0u}) {
    spec.fft = fft;
    spec.bins = fft / 2 + 1;
    TEST_ASSERT_EQUAL_UINT32(0, mote_log_mel_bytes(&spec));
  }
  spec.fft = 400;
  spec.bins = UINT32_MAX;
  TEST_ASSERT_EQUAL_UINT32(0, mote_log_mel_bytes(&spec));
  spec.bins = 201;
  TEST_ASSERT_TRUE(mote_log_mel_bytes(&spec) > 0);
}

TEST("a model stays as it is where its storage is refused another file") {
  const test::AlignedBytes& file = test::golden_file("llama", "f32");
  mote_error error{};
  mote::bare::Model opened;
  REQUIRE(opened.open(file.data(), file.size(), &error) == MOTE_OK);
  const mote_model_info before = opened.info();
  test::AlignedBytes damaged(file.data(), file.size());
  mote::file::GetMutableSizePrefixedModel(damaged.data())->mutate_context(0);
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened.open(damaged.data(), damaged.size(), &error));
  TEST_ASSERT_EQUAL_INT(MOTE_TRUNCATED, opened.open(file.data(), 8, &error));
  const mote_model_info after = opened.info();
  TEST_ASSERT_TRUE(before.name == after.name && before.vocab == after.vocab && before.hash == after.hash);
  mote_session_options options = opened.default_options();
  options.context = 16;
  test::AlignedBytes arena(opened.session_bytes(options));
  mote::bare::Session of_old;
  REQUIRE(of_old.init(opened, options, arena.data(), arena.size(), &error) == MOTE_OK);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, of_old.prefill(test::some_ids(3, before.vocab).data(), 3, &error));
}
