// SPDX-License-Identifier: Apache-2.0
//
// What an operation reads, an earlier one of the program has written: nothing of what an arena held before
// reaches a program's outputs.
#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

using namespace mote::convert;

namespace {

constexpr uint32_t kColumns = 8, kHalf = kColumns / 2;
constexpr uint32_t kSecondHalf = 2, kSum = 3, kHead = 5;  // operations
constexpr uint32_t kSpare = 4;                            // a buffer like that of the outputs

/// A decoder with a value that two operations write, a half each, and a third adds to the embedding.
test::AlignedBytes halves_file() {
  return test::decoder_file(kColumns, 16, [](Graph& graph, View x) {
    const View halves = test::add_value(graph, kColumns);
    TEST_ASSERT_EQUAL_INT(kSpare, test::add_value(graph, 16, Unit::selected).value);
    const auto part = [](View of, uint32_t column) { return View{of.value, column, kHalf}; };
    for (const uint32_t column : {0u, kHalf})
      graph.nodes.push_back(ScaleRowsNode{part(x, column), part(halves, column), -1, 2.0f});
    graph.nodes.push_back(ScaleRowsNode{halves, x, -1, 1.0f, x});
  });
}

/// What making a session says of the file, after a change to its first program.
template <class Change>
mote_status init_changed(mote_error* error, Change change) {
  test::AlignedBytes file = halves_file();
  auto* root = flatbuffers::GetMutableSizePrefixedRoot<mote::file::Model>(file.data());
  change(root->mutable_programs()->GetMutableObject(0));
  const test::OpenModel model(file);
  const mote_session_options options = mote_session_options_default(model.get());
  test::AlignedBytes arena(mote_session_bytes(model.get(), &options));
  mote_session* session = nullptr;
  return mote_session_init(model.get(), &options, arena.data(), arena.size(), &session, error);
}

auto* scale_at(mote::file::Program* program, uint32_t op) {
  mote::file::Op* found = program->mutable_ops()->GetMutableObject(op);
  REQUIRE(found->args_type() == mote::file::OpArgs::ScaleRows);
  return static_cast<mote::file::ScaleRows*>(found->mutable_args());
}

}  // namespace

TEST("a session is made of a program whose columns are written in parts before they are read") {
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, init_changed(&error, [](mote::file::Program*) {}));
}

TEST("a session is refused where an operation reads a column that none has written") {
  mote_error error{};
  const mote_status status = init_changed(&error, [](mote::file::Program* program) {
    scale_at(program, kSecondHalf)->mutable_out()->mutate_column(0);
  });
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, status);
  TEST_ASSERT_EQUAL_INT(kSum, error.op);
  INFO(error.text);
  TEST_ASSERT_TRUE(test::says(error.text, "ScaleRows of program"));
  TEST_ASSERT_TRUE(test::says(error.text, "columns that no operation has written before, 0 + 8 of buffer"));
}

TEST("a session is refused where another buffer was written over what an operation reads") {
  mote_error error{};
  const mote_status status = init_changed(&error, [](mote::file::Program* program) {
    const uint32_t halves = scale_at(program, kSum)->in()->buffer();
    TEST_ASSERT_TRUE(program->mutable_buffers()->GetMutableObject(halves)->mutate_offset(0));
  });
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, status);
  TEST_ASSERT_EQUAL_INT(kSecondHalf, error.op);
}

TEST("a session is refused where no operation has written the outputs") {
  mote_error error{};
  const mote_status status = init_changed(&error, [](mote::file::Program* program) {
    mote::file::Op* head = program->mutable_ops()->GetMutableObject(kHead);
    REQUIRE(head->args_type() == mote::file::OpArgs::Linear);
    auto* out = static_cast<mote::file::Linear*>(head->mutable_args())->mutable_out();
    out->mutate_buffer(kSpare);
  });
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, status);
  INFO(error.text);
  TEST_ASSERT_TRUE(test::says(error.text, "the output is of columns that no operation has written before"));
}

TEST("a file is refused with a state in which its program stores nothing") {
  const auto file = [](bool stores) {
    return test::decoder_file(kColumns, 16, [&](Graph& graph, View x) {
      graph.caches = {{1, kColumns, 0}, {1, kColumns, 0}};
      graph.nodes.push_back(KvStoreNode{0, x, x});
      graph.nodes.push_back(AttentionNode{0, 1, 1.0f, x, x});
      if (stores) graph.nodes.push_back(KvStoreNode{1, x, x});
    });
  };
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_changed(file(true), &error, [](mote::file::Model*) {}));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE,
                        test::open_changed(file(false), &error, [](mote::file::Model*) {}));
  INFO(error.text);
  TEST_ASSERT_TRUE(test::says(error.text, "has stored nothing in state 1"));
}
