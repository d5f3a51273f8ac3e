// SPDX-License-Identifier: Apache-2.0
//
// Each change of what a file consists of happens, gives a valid FlatBuffer, and reaches behind the first
// checks.
#include "tests/fuzz/model_tree.h"
#include "tests/fuzz/mutate_structure.h"
#include "tests/support/any_file.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

namespace {

using fuzz::StructureChange;

test::AlignedBytes kept_decoder() {
  const std::string kept = mote::testing::read_text(MOTE_SOURCE_DIR "/tests/golden/formats/v1_decoder.mote");
  return {kept.data(), kept.size()};
}

/// What a tree consists of.
struct Counts {
  uint32_t elements = 0;  // of vectors of tables
  uint32_t streams = 0, fields = 0, empty = 0;
};

void count(const fuzz::TableNode& table, Counts* counts) {
  for (size_t i = 0; i < table.fields.size(); ++i) {
    if (!table.fields[i]) continue;
    const fuzz::FieldNode& value = *table.fields[i];
    const bool repeats = fuzz::field_type(*table.type, i).repeats;
    const auto elements = static_cast<uint32_t>(value.tables.size());
    ++counts->fields;
    if (repeats) counts->elements += elements;
    if (std::string(table.type->names[i]) == "streams") counts->streams += elements;
    counts->empty += repeats && elements == 0 && value.bytes.empty() && value.strings.empty();
    for (const fuzz::TableNode& child : value.tables) count(child, counts);
  }
}

Counts counts_of(const test::AlignedBytes& file) {
  const auto tree = fuzz::read_tree(file.data(), file.size());  // which verifies it
  TEST_ASSERT_TRUE(tree.has_value());
  Counts counts;
  count(*tree, &counts);
  return counts;
}

/// Whether that change was made.
bool happened(StructureChange change, const Counts& before, const Counts& after, bool same_bytes) {
  switch (change) {
    case StructureChange::drop:
      return after.elements < before.elements;
    case StructureChange::repeat:
      return after.elements > before.elements;
    case StructureChange::move:
      return after.elements == before.elements && after.fields == before.fields && !same_bytes;
    case StructureChange::stream:
      return after.streams == before.streams + 1;
    case StructureChange::empty:
      return after.empty == before.empty + 1;
    case StructureChange::add:
      return after.fields > before.fields;
  }
  return false;
}

}  // namespace

TEST("a file that is read as a tree and written again is the same model") {
  const test::AlignedBytes file = kept_decoder();
  const auto tree = fuzz::read_tree(file.data(), file.size());
  TEST_ASSERT_TRUE(tree.has_value());
  const std::string again = fuzz::write_tree(*tree, file.data(), file.size());
  const test::AlignedBytes written(again.data(), again.size());
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_and_run(written));
  const auto second = fuzz::read_tree(written.data(), written.size());
  TEST_ASSERT_TRUE(second.has_value());
  TEST_ASSERT_TRUE(fuzz::write_tree(*second, written.data(), written.size()) == again);
}

TEST("each change of a file's structure happens, is a valid FlatBuffer, and is refused or runs") {
  const test::AlignedBytes file = kept_decoder();
  const Counts before = counts_of(file);
  const auto tree = fuzz::read_tree(file.data(), file.size());
  const std::string unchanged = fuzz::write_tree(*tree, file.data(), file.size());
  for (const StructureChange change : fuzz::kStructureChanges) {
    uint32_t made = 0, ran = 0;
    for (uint32_t seed = 0; seed < 300; ++seed) {
      CAPTURE(static_cast<int>(change), seed);
      const auto changed = fuzz::change_structure(file.data(), file.size(), change, seed);
      if (!changed) continue;
      ++made;
      const test::AlignedBytes other(changed->data(), changed->size());
      const bool same = *changed == unchanged;
      // Of two equal elements one may have moved.
      TEST_ASSERT_TRUE(happened(change, before, counts_of(other), same) ||
                       (change == StructureChange::move && same));
      ran += test::open_and_run(other) == MOTE_OK;
    }
    CAPTURE(static_cast<int>(change), made, ran);
    TEST_ASSERT_GREATER_THAN(150, made);
    if (change != StructureChange::stream) TEST_ASSERT_GREATER_THAN(0, ran);
  }
}

TEST("what is no valid FlatBuffer has no structure to change") {
  const uint64_t zeros[8] = {};
  for (const StructureChange change : fuzz::kStructureChanges)
    TEST_ASSERT_FALSE(
        fuzz::change_structure(reinterpret_cast<const uint8_t*>(zeros), sizeof zeros, change, 1).has_value());
}
