// SPDX-License-Identifier: Apache-2.0
//
// Models of several programs that work on the same states, inputs of floats, and what a reader must know.
#include <cstring>

#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kProgramWidth = 16, kVocab = 16, kValueDim = 4;

std::vector<float> numbers(uint32_t rows, uint32_t cols, uint32_t seed) {
  std::vector<float> values(size_t{rows} * cols);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + seed * 13) * (i + 3) % 41) / 32.0f - 0.6f;
  return values;
}

/// One layer of attention with keys of 8 and values of 4 columns, behind the given first node.
ProgramGraph layer(const char* name, const Node& first) {
  ProgramGraph program;
  program.name = name;
  const auto value = [&](uint32_t width, Unit unit) { return test::add_value(program, width, unit); };
  const View x = value(kProgramWidth, Unit::token), q = value(16, Unit::token), k = value(8, Unit::token),
             v = value(kValueDim, Unit::token), attended = value(2 * kValueDim, Unit::token),
             selected = value(kProgramWidth, Unit::selected), logits = value(kVocab, Unit::selected);
  program.nodes = {first,
                   LinearNode{1, -1, mote::Activation::none, x, q, std::nullopt},
                   LinearNode{2, -1, mote::Activation::none, x, k, std::nullopt},
                   LinearNode{3, -1, mote::Activation::none, x, v, std::nullopt},
                   KvStoreNode{0, k, v},
                   AttentionNode{0, 2, 0.5f, q, attended},
                   LinearNode{4, -1, mote::Activation::none, attended, x, x},
                   SelectNode{x, selected},
                   LinearNode{0, -1, mote::Activation::none, selected, logits, std::nullopt}};
  program.output = logits;
  return program;
}

Graph graph_of_two() {
  const View x{0, 0, kProgramWidth};
  Graph graph = test::bare_graph(kVocab, kProgramWidth, 300);
  static_cast<ProgramGraph&>(graph) = layer("decode", EmbedNode{0, x});
  graph.more_programs = {layer("decode_floats", InputNode{x})};
  const auto weight = [&](const char* name, uint32_t rows, uint32_t cols) {
    const auto seed = static_cast<uint32_t>(graph.weights.size());
    graph.weights.push_back({name, mote::DType::f32, false, rows, cols, {}, numbers(rows, cols, seed)});
  };
  weight("table", kVocab, kProgramWidth);
  weight("q", 16, kProgramWidth);
  weight("k", 8, kProgramWidth);
  weight("v", kValueDim, kProgramWidth);
  weight("o", kProgramWidth, 2 * kValueDim);
  graph.caches = {{1, 8, 0, false, kValueDim}};
  return graph;
}

const test::OpenModel& model() {
  static const test::AlignedBytes file = test::graph_file(graph_of_two(), "two");
  static const test::OpenModel opened(file);
  return opened;
}

}  // namespace

TEST("a program of floats gives the bits of the one of ids that embeds the same rows", "[programs]") {
  mote_program_info info{};
  TEST_ASSERT_EQUAL_UINT32(2, mote_model_programs(model().get()));
  mote_model_get_program(model().get(), 1, &info);
  TEST_ASSERT_EQUAL_STRING("decode_floats", info.name);
  TEST_ASSERT_EQUAL_UINT32(kProgramWidth, info.input_width);
  TEST_ASSERT_EQUAL_UINT32(kVocab, info.output_width);
  mote_model_get_program(model().get(), 2, &info);
  TEST_ASSERT_NULL(info.name);

  const auto table = numbers(kVocab, kProgramWidth, 0);
  for (const mote_isa isa : test::all_families()) {
    for (const uint32_t n : {1u, 5u, 60u, 140u}) {
      CAPTURE(mote_isa_name(isa), n);
      mote_session_options options = mote_session_options_default(model().get());
      options.isa = isa;
      options.chunk = 150;
      const test::OpenSession by_ids(model(), options), by_floats(model(), options);
      const auto ids = test::some_ids(n + 1, kVocab);
      const auto expected = test::prefill(by_ids.get(), {ids.begin(), ids.end() - 1}, kVocab);
      std::vector<mote_row> rows(n);
      std::vector<float> values;
      for (uint32_t i = 0; i < n; ++i) {
        rows[i] = {0, 0, 0, i + 1 == n};
        const float* row = &table[static_cast<size_t>(ids[i]) * kProgramWidth];
        values.insert(values.end(), row, row + kProgramWidth);
        values.insert(values.end(), 3, -1.0f);  // between rows
      }
      mote_rows call{};
      call.rows = rows.data();
      call.count = n;
      call.program = 1;
      call.values = values.data();
      call.value_stride = kProgramWidth + 3;
      mote_error error{};
      REQUIRE(mote_compute(by_floats.get(), &call, &error) == MOTE_OK);
      TEST_ASSERT_TRUE(expected == test::logits_of(by_floats.get(), kVocab));
      // Both programs have one state: ids go on where floats ended.
      REQUIRE(mote_decode(by_ids.get(), &ids[n], nullptr) == MOTE_OK);
      REQUIRE(mote_decode(by_floats.get(), &ids[n], nullptr) == MOTE_OK);
      TEST_ASSERT_TRUE(test::logits_of(by_ids.get(), kVocab) == test::logits_of(by_floats.get(), kVocab));
    }
  }
}

TEST("a call gives a program what its rows are, or is refused", "[programs]") {
  const test::OpenSession session(model(), mote_session_options_default(model().get()));
  const mote_row row{0, 1, 0, 1};
  const float values[kProgramWidth] = {};
  mote_error error{};
  mote_rows call{};
  call.rows = &row;
  call.count = 1;
  call.values = values;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), &call, &error));
  call.values = nullptr;
  call.program = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), &call, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "decode_floats takes 16 floats"));
  call.values = values;
  call.value_stride = kProgramWidth - 1;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), &call, &error));
  call.program = 2;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), &call, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "program 2 of 2"));
}

TEST("a file says what a reader must know, and a reader that does not know it refuses", "[programs]") {
  test::AlignedBytes file = test::graph_file(graph_of_two(), "features");
  using mote::file::Feature;
  TEST_ASSERT_TRUE(mote::file::GetSizePrefixedModel(file.data())->required_features() ==
                   (Feature::value_dim | Feature::programs));
  mote_error error{};
  const mote_status status = test::open_changed(graph_of_two(), &error, [](mote::file::Model* root) {
    root->mutate_required_features(static_cast<Feature>(uint64_t{1} << 40));
  });
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, status);
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "feature 40"));
}

TEST("programs and states of an unknown kind are refused", "[programs]") {
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE,
                        test::open_changed(graph_of_two(), &error, [](mote::file::Model* root) {
                          auto* program = root->mutable_programs()->GetMutableObject(1);
                          program->mutate_kind(static_cast<mote::file::ProgramKind>(7));
                        }));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "decode_floats"));
  TEST_ASSERT_EQUAL_INT(
      MOTE_UNSUPPORTED_FILE, test::open_changed(graph_of_two(), &error, [](mote::file::Model* root) {
        root->mutable_states()->GetMutableObject(0)->mutate_kind(static_cast<mote::file::StateKind>(77));
      }));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "state 0"));
}

TEST("inputs of two widths in one program are refused", "[programs]") {
  Graph graph = graph_of_two();
  ProgramGraph& program = graph.more_programs[0];
  program.nodes.insert(program.nodes.begin() + 1, InputNode{View{0, 4, 8}});
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "inputs of 16 and 8 floats"));
}

TEST("states of more windows than a session has pools for are refused", "[programs]") {
  Graph graph = graph_of_two();
  const auto add = [&](uint32_t window) {
    const auto state = static_cast<uint32_t>(graph.caches.size());
    graph.caches.push_back({1, 8, window, false, kValueDim});
    for (ProgramGraph* program : {static_cast<ProgramGraph*>(&graph), &graph.more_programs[0]}) {
      KvStoreNode store = std::get<KvStoreNode>(program->nodes[4]);
      store.cache = state;
      program->nodes.insert(program->nodes.begin() + 5, store);
    }
  };
  for (uint32_t window = 1; window < 64; ++window) add(window);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(graph, &error));
  add(64);
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, test::open_changed(graph, &error));
}
