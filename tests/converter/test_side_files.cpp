// SPDX-License-Identifier: Apache-2.0
//
// Files beside a tokenizer.json, against the ids of transformers' AutoTokenizer
// (scripts/make_known_tokenizers), and what is refused because they contradict each other.
#include <nlohmann/json.hpp>

#include "tests/support/text_tokenizer.h"
#include "tests/support/tokenizer_directory.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::read_text;
using mote::testing::TokenizerDirectory;
using nlohmann::json;

namespace {

const json& known() {
  static const json values =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/side_files.json"));
  return values;
}

/// What is wrong with this tokenizer_config.json beside the tokenizer of BERT.
std::string error_of(const json& tokenizer_config, const json& added_tokens = json::object()) {
  TokenizerDirectory directory({{"model_type", "bert"}, {"vocab_size", 300}});
  directory.file("tokenizer.json", known().at("tokenizers").at("bert"));
  directory.file("tokenizer_config.json", tokenizer_config).file("added_tokens.json", added_tokens);
  return directory.error();
}

void assert_contains(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  TEST_ASSERT_TRUE(text.find(part) != std::string::npos);
}

}  // namespace

TEST("files beside a tokenizer.json change ids as they do for AutoTokenizer", "[values]") {
  for (const json& known_case : known().at("cases")) {
    const std::string name = known_case.at("name");
    TokenizerDirectory directory({{"model_type", known_case.at("model_type")}, {"vocab_size", 300}});
    directory.file("tokenizer.json",
                   known().at("tokenizers").at(known_case.at("tokenizer").get<std::string>()));
    for (const auto& [file, content] : known_case.at("files").items()) directory.file(file, content);
    const ::test::TextTokenizer tokenizer(directory.read());
    for (const json& text : known_case.at("texts")) {
      CAPTURE(name, text.at("text").get<std::string>());
      const std::vector<int32_t> ids =
          tokenizer.encode(text.at("text").get<std::string>(), MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL);
      REQUIRE(ids == text.at("ids").get<std::vector<int32_t>>());
    }
  }
}

TEST("files that contradict a tokenizer.json are refused by what they say") {
  const json token = {{"content", "<NEW>"}, {"special", false}};
  assert_contains(error_of({{"added_tokens_decoder", {{"40", token}}}}), "'<NEW>' has id 40");
  assert_contains(error_of({{"added_tokens_decoder", {{"x", token}}}}), "added_tokens_decoder.x");
  assert_contains(error_of(json::object(), {{"<NEW>", 7}}), "added_tokens.json, here it is 21");
  assert_contains(error_of({{"cls_token", "nowhere"}}), "cls_token 'nowhere' is not in the vocabulary");
  assert_contains(error_of({{"do_lower_case", "yes"}}), "do_lower_case is \"yes\"");
  TokenizerDirectory other({{"model_type", "bert"}, {"vocab_size", 300}});
  other.file("tokenizer.json", known().at("tokenizers").at("roberta"));
  TEST_ASSERT_EQUAL_STRING("", other.error());
  assert_contains(other.file("tokenizer_config.json", {{"tokenizer_class", "BertTokenizer"}}).error(),
                  "no BertPreTokenizer");
  TokenizerDirectory llama({{"model_type", "llama"}, {"vocab_size", 300}});
  json prepended = known().at("tokenizers").at("bert");
  prepended["normalizer"] = {{"type", "Prepend"}, {"prepend", "\u2581"}};
  llama.file("tokenizer.json", prepended);
  llama.file("tokenizer_config.json", {{"tokenizer_class", "LlamaTokenizer"}, {"add_prefix_space", false}});
  assert_contains(llama.error(), "add_prefix_space false of LlamaTokenizer contradicts");
}

TEST("tokens beyond the model's vocabulary are added as the original adds them") {
  TokenizerDirectory directory({{"model_type", "bert"}, {"vocab_size", 21}});
  directory.file("tokenizer.json", known().at("tokenizers").at("bert"));
  directory.file("tokenizer_config.json", {{"bos_token", "<NEW>"}});
  const TokenizerSpec spec = directory.read();
  TEST_ASSERT_EQUAL_UINT64(22, spec.tokens.size());
  TEST_ASSERT_EQUAL_STRING("<NEW>", spec.added.back().text);
}

TEST("an added_tokens.json names special tokens as special ones") {
  TokenizerDirectory directory({{"model_type", "bert"}, {"vocab_size", 300}});
  directory.file("tokenizer.json", known().at("tokenizers").at("bert"));
  directory.file("added_tokens.json", {{"<NEW>", 21}, {"<OTHER>", 22}});
  directory.file("special_tokens_map.json", {{"bos_token", "<NEW>"}});
  const TokenizerSpec spec = directory.read();
  TEST_ASSERT_TRUE((spec.tokens.at(21).flags & kTokenSpecial) != 0);
  TEST_ASSERT_TRUE((spec.tokens.at(22).flags & kTokenSpecial) == 0);
}

TEST("a vocab.txt is read with its added tokens, one of another class of tokenizer is refused") {
  const std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncaf\n##e\n";
  TokenizerDirectory directory({{"model_type", "bert"}, {"vocab_size", 300}});
  directory.text("vocab.txt", words).file("added_tokens.json", {{"<NEW>", 7}});
  const ::test::TextTokenizer tokenizer(directory.read());
  REQUIRE(tokenizer.encode("cafe <NEW>", MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL) ==
          std::vector<int32_t>{2, 5, 6, 7, 3});
  for (const json& config :
       {json{{"tokenizer_class", "BertJapaneseTokenizer"}, {"word_tokenizer_type", "mecab"}},
        json{{"tokenizer_class", "PhobertTokenizer"}}}) {
    const std::string message = directory.file("tokenizer_config.json", config).error();
    assert_contains(message, config.at("tokenizer_class"));
  }
  TokenizerDirectory of_config({{"model_type", "bert"}, {"tokenizer_class", "BertJapaneseTokenizer"}});
  assert_contains(of_config.text("vocab.txt", words).error(), "BertJapaneseTokenizer");
}

TEST("an encoder needs no decoder") {
  for (const json& decoder : {json(), json{{"type", "CTC"}}}) {
    json tokenizer = known().at("tokenizers").at("bert");
    tokenizer["decoder"] = decoder;
    TokenizerDirectory directory({{"model_type", "llama"}, {"vocab_size", 300}});
    directory.file("tokenizer.json", tokenizer);
    assert_contains(directory.error(), "decoder");
    TEST_ASSERT_EQUAL_STRING("##e", directory.read(true).tokens.at(7).text);
  }
}

TEST("texts are cut at the side that tokenizer_config.json or a tokenizer.json says") {
  TokenizerDirectory directory(json{{"model_type", "bert"}});
  json tokenizer = known().at("tokenizers").at("bert");
  const auto kept = [&] {
    const ::test::TextTokenizer opened(directory.read());
    std::vector<int32_t> ids(4);
    REQUIRE(opened.encode_into("the x y x", MOTE_ADD_SPECIAL | MOTE_TRUNCATE, &ids) == MOTE_OK);
    return ids;
  };
  directory.file("tokenizer.json", tokenizer);
  REQUIRE(kept() == std::vector<int32_t>{2, 11, 13, 3});
  directory.file("tokenizer_config.json", {{"truncation_side", "left"}});
  REQUIRE(kept() == std::vector<int32_t>{2, 14, 13, 3});
  tokenizer["truncation"] = {
      {"direction", "Left"}, {"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}};
  directory.file("tokenizer.json", tokenizer).file("tokenizer_config.json", json::object());
  REQUIRE(kept() == std::vector<int32_t>{2, 14, 13, 3});
  directory.file("tokenizer_config.json", {{"truncation_side", "right"}});
  REQUIRE(kept() == std::vector<int32_t>{2, 11, 13, 3});
  assert_contains(directory.file("tokenizer_config.json", {{"truncation_side", "both"}}).error(),
                  "truncation_side");
}
