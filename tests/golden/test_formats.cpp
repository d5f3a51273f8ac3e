// SPDX-License-Identifier: Apache-2.0
//
// Files that released versions wrote. They are kept, never made anew: what fails here broke the promise of
// docs/format.md.
#include <algorithm>
#include <array>

#include "tests/support/test_model.h"

namespace {

std::filesystem::path formats() { return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/formats"; }

}  // namespace

TEST("every file that an earlier version wrote opens whole and gives its stored results") {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(formats())) {
    if (entry.path().extension() != ".mote") continue;
    CAPTURE(entry.path().string());
    const test::AlignedBytes file = test::read_file(entry.path());
    const test::OpenModel model(file);  // hashes checked
    for (const mote_isa isa : test::all_families()) {
      mote_session_options options = test::small_options(model);
      options.isa = isa;
      const test::OpenSession session(model, options);
      mote_self_test result{};
      mote_error error{};
      const mote_status status = mote_session_self_test(session.get(), &result, &error);
      INFO(error.text);
      TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
      TEST_ASSERT_GREATER_THAN(0u, result.ids);
    }
    ++count;
  }
  TEST_ASSERT_GREATER_THAN(0u, count);
}

TEST("v1_decoder.mote: a decoder of 4 and 8 bits with tokenizer and chat format") {
  const test::AlignedBytes file = test::read_file(formats() / "v1_decoder.mote");
  const test::OpenModel model(file);
  const mote_model_info info = model.info();
  TEST_ASSERT_EQUAL_STRING("llama", info.architecture);
  TEST_ASSERT_EQUAL_UINT32(58, info.vocab);
  TEST_ASSERT_EQUAL_UINT32(58, info.tokens);
  TEST_ASSERT_EQUAL_UINT64(64, info.context);
  TEST_ASSERT_EQUAL_STRING("zephyr", mote_chat_format(model.get()));

  const test::OpenSession session(model, test::small_options(model));
  const std::string text = "hello the 12";
  std::array<int32_t, 16> ids;
  uint32_t count = 0;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_tokenize(session.get(), text.data(), text.size(), MOTE_ADD_SPECIAL,
                                               ids.data(), ids.size(), &count, nullptr, &error));
  const std::array<int32_t, 8> expected = {1, 3, 55, 48, 3, 31, 32, 2};
  TEST_ASSERT_EQUAL_UINT32(expected.size(), count);
  TEST_ASSERT_TRUE(std::equal(expected.begin(), expected.end(), ids.begin()));
}
