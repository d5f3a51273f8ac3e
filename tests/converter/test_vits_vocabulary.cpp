// SPDX-License-Identifier: Apache-2.0
//
// VITS's letters: ids by the rules of transformers' VitsTokenizer, with blanks between them.
#include <nlohmann/json.hpp>

#include "tests/support/text_tokenizer.h"
#include "tests/support/tokenizer_directory.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using mote::testing::TokenizerDirectory;
using nlohmann::json;

namespace {

/// Of a voice of MMS: the blank is a letter.
const json kLetters = {{"k", 0}, {"a", 1}, {"b", 2}, {"'", 3}, {" ", 4}, {"\u0163", 5}, {"<unk>", 6}};

/// With these changes to its tokenizer_config.json.
struct Voice : TokenizerDirectory {
  explicit Voice(const json& changes) : TokenizerDirectory(json{{"model_type", "vits"}}) {
    json config = {{"tokenizer_class", "VitsTokenizer"},
                   {"phonemize", false},
                   {"pad_token", "k"},
                   {"unk_token", "<unk>"}};
    config.update(changes);
    file("vocab.json", kLetters).file("tokenizer_config.json", config);
  }
};

TokenizerSpec read(const json& changes = json::object()) { return Voice(changes).read(true); }

std::vector<int32_t> ids_of(const TokenizerSpec& spec, const std::string& text) {
  return ::test::TextTokenizer(spec).encode(text, MOTE_ADD_SPECIAL);
}

using Ids = std::vector<int32_t>;

}  // namespace

TEST("letters are in lower case between blanks, and what is no letter is left out") {
  const TokenizerSpec spec = read();
  REQUIRE(ids_of(spec, "ab") == Ids{0, 1, 0, 2, 0});
  REQUIRE(ids_of(spec, "  A, b! ") == Ids{0, 1, 0, 4, 0, 2, 0});
  REQUIRE(ids_of(spec, "a'<unk>") == Ids{0, 1, 0, 3, 0, 0});
  REQUIRE(ids_of(spec, "!?").empty());
}

TEST("texts are cut at a letter that is a special token before blanks are put between the others") {
  const TokenizerSpec spec = read();
  REQUIRE(ids_of(spec, "akb") == Ids{0, 1, 0, 0, 0, 2, 0});
  REQUIRE(ids_of(spec, "Kab") == Ids{0, 0, 1, 0, 2, 0});
  REQUIRE(ids_of(spec, "akk") == Ids{0, 1, 0, 0, 0});
  REQUIRE(ids_of(read({{"pad_token", "<pad>"}}), "kab") == Ids{0, 0, 0, 1, 0, 2, 0});
}

TEST("without blanks there are letters alone, and Romanian's t with a comma is one with a cedilla") {
  REQUIRE(ids_of(read({{"add_blank", false}}), "A b") == Ids{1, 4, 2});
  REQUIRE(ids_of(read({{"add_blank", false}, {"language", "ron"}}), "a\u021B\u021A") == Ids{1, 5, 5});
  REQUIRE(ids_of(read({{"add_blank", false}}), "a\u021B") == Ids{1});
}

TEST("texts that are to become phonemes or Latin letters first are refused by name") {
  const auto error = [](const json& changes) { return Voice(changes).error(); };
  TEST_ASSERT_NOT_NULL(std::strstr(error({{"is_uroman", true}}).c_str(), "is_uroman is true"));
  TEST_ASSERT_NOT_NULL(std::strstr(error({{"phonemize", true}}).c_str(), "phonemize is true"));
  TEST_ASSERT_NOT_NULL(std::strstr(error({{"normalize", false}}).c_str(), "normalize is false"));
  TEST_ASSERT_NOT_NULL(std::strstr(error({{"pad_token", "ab"}}).c_str(), "'ab' is made of letters"));
}
