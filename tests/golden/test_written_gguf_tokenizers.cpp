// SPDX-License-Identifier: Apache-2.0
//
// Every vocabulary of tests/written/gguf_tokenizers, which llama.cpp's converter wrote of transformers'
// tokenizers, to the ids that transformers gives.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/text_tokenizer.h"
#include "tests/support/unity_style.h"

namespace mote::testing {
namespace {

std::filesystem::path vocabularies_folder() {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/written/gguf_tokenizers";
}

}  // namespace

TEST("every vocabulary that llama.cpp's converter wrote gives the ids of the tokenizer it was written of") {
  size_t kinds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(vocabularies_folder())) {
    if (entry.path().extension() != ".gguf") continue;
    const ::test::TextTokenizer tokenizer(::test::read_gguf_tokenizer(entry.path()));
    std::ifstream lines(std::filesystem::path(entry.path()).replace_extension(".jsonl"));
    std::string line;
    size_t texts = 0;
    for (; std::getline(lines, line); ++texts) {
      const nlohmann::json expected = nlohmann::json::parse(line);
      const std::string kind = entry.path().stem(), text = expected.at("text");
      CAPTURE(kind, text);
      CHECK(tokenizer.encode(text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL) ==
            expected.at("ids").get<std::vector<int32_t>>());
    }
    TEST_ASSERT_GREATER_THAN(20, texts);
    ++kinds;
  }
  TEST_ASSERT_GREATER_OR_EQUAL(15u, kinds);
}

}  // namespace mote::testing
