// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers of directories without a tokenizer.json, against the ids of transformers' AutoTokenizer
// (scripts/make_known_piece_files), and what is refused.
#include <nlohmann/json.hpp>

#include "host/base/base64.h"
#include "tests/support/text_tokenizer.h"
#include "tests/support/tokenizer_directory.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::contains;
using mote::testing::read_text;
using mote::testing::TokenizerDirectory;
using nlohmann::json;

namespace {

const json& known_files() {
  static const json values =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/piece_files.json"));
  return values;
}

void add_file(TokenizerDirectory& directory, const std::string& name, const json& content) {
  if (content.is_string()) {
    directory.text(name, content.get<std::string>());
  } else if (content.is_object() && content.size() == 1 && content.contains("base64")) {
    directory.text(name, from_base64(content["base64"].get<std::string>()).value());
  } else {
    directory.file(name, content);
  }
}

const json& case_named(const std::string& name) {
  for (const json& one : known_files().at("cases")) {
    if (one.at("name") == name) return one;
  }
  FAIL("no case " << name);
  return known_files();
}

}  // namespace

TEST("directories without a tokenizer.json give AutoTokenizer's ids", "[values]") {
  for (const json& one : known_files().at("cases")) {
    const std::string name = one.at("name");
    TokenizerDirectory directory(json{{"model_type", one.at("model_type")}});
    for (const auto& [file, content] : one.at("files").items()) add_file(directory, file, content);
    CAPTURE(name);
    const ::test::TextTokenizer tokenizer(directory.read());
    for (const json& text : one.at("texts")) {
      CAPTURE(name, text[0].get<std::string>());
      CHECK(tokenizer.encode(text[0].get<std::string>(), MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL) ==
            text[1].get<std::vector<int32_t>>());
    }
  }
}

TEST("a text with a token that the model does not have is refused by the token's name, others are not") {
  const json& padded = case_named("llama with [PAD]");
  TokenizerDirectory directory(json{{"model_type", "llama"}});
  for (const auto& [file, content] : padded.at("files").items()) add_file(directory, file, content);
  const TokenizerSpec spec = directory.read();
  ::test::TextTokenizer tokenizer(spec);
  const std::vector<int32_t> before = tokenizer.encode("a b", MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL);
  tokenizer.set_vocab(420);
  REQUIRE(tokenizer.encode("a b", MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL) == before);
  std::string message;
  try {
    tokenizer.encode("a [PAD] b", MOTE_PARSE_SPECIAL);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  TEST_ASSERT_TRUE(contains(message, "'[PAD]' is token 420 of the tokenizer, the model has only 420"));
  TEST_ASSERT_TRUE(tokenizer.encode("a [PAD] b", 0).size() > 3);
  const TokenizerTables tables(spec, false);
  TEST_ASSERT_TRUE(tables.adds_all_from(420));
  TEST_ASSERT_FALSE(tables.adds_all_from(419));
}

TEST("a class whose files are not read is named") {
  TokenizerDirectory directory(json{{"model_type", "other"}});
  add_file(directory, "tokenizer.model", case_named("mistral").at("files").at("tokenizer.model"));
  directory.file("tokenizer_config.json", {{"tokenizer_class", "FancyTokenizer"}});
  const std::string message = directory.error();
  CAPTURE(message);
  TEST_ASSERT_TRUE(contains(message, "FancyTokenizer") && contains(message, "tokenizer.model"));
}

TEST("files that AutoTokenizer reads otherwise, or not at all, are refused by the class's name") {
  const json& merges = case_named("mistral").at("files").at("tokenizer.model");
  const json& unigram = case_named("albert").at("files").at("spiece.model");
  struct Refused {
    const char *type, *declared, *file, *name;
    const json& content;
  };
  const json lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n";
  for (const Refused& one :
       {Refused{"albert", "", "vocab.txt", "AlbertTokenizer", lines},
        Refused{"albert", "AlbertTokenizer", "vocab.txt", "AlbertTokenizer", lines},
        Refused{"m2m_100", "NllbTokenizer", "sentencepiece.bpe.model", "NllbTokenizer", merges},
        Refused{"m2m_100", "NllbTokenizerFast", "sentencepiece.bpe.model", "NllbTokenizer", merges},
        Refused{"nllb-moe", "", "sentencepiece.bpe.model", "NllbTokenizer", merges},
        Refused{"xglm", "", "sentencepiece.bpe.model", "XGLMTokenizer", unigram},
        Refused{"xglm", "XGLMTokenizer", "sentencepiece.bpe.model", "XGLMTokenizer", unigram},
        Refused{"siglip", "", "spiece.model", "SiglipTokenizer", merges}}) {
    TokenizerDirectory directory(json{{"model_type", one.type}});
    add_file(directory, one.file, one.content);
    if (*one.declared != 0) directory.file("tokenizer_config.json", {{"tokenizer_class", one.declared}});
    const std::string message = directory.error();
    CAPTURE(one.type, one.declared, message);
    CHECK((contains(message, one.name) && contains(message, one.file)));
  }
}

TEST("a vocab.txt of an ALBERT whose class is BERT's is BERT's") {
  TokenizerDirectory directory(json{{"model_type", "albert"}});
  directory.text("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n");
  directory.file("tokenizer_config.json", {{"tokenizer_class", "BertTokenizer"}});
  const ::test::TextTokenizer tokenizer(directory.read());
  CHECK(tokenizer.encode("The dog sleeps", MOTE_ADD_SPECIAL) == std::vector<int32_t>{2, 5, 6, 1, 3});
}

TEST("damaged lists of merges and ranks are refused by what is wrong") {
  TokenizerDirectory merges(json{{"model_type", "gpt2"}});
  merges.file("vocab.json", {{"a", 0}, {"b", 1}, {"ab", 2}});
  TEST_ASSERT_TRUE(
      contains(merges.text("merges.txt", "#version: 0.2\na b c\n").error(), "line 2 is 'a b c'"));
  TEST_ASSERT_TRUE(contains(merges.text("merges.txt", "a x\n").error(), "'x' is not in the vocabulary"));
  TokenizerDirectory ranks(json{{"model_type", "llama"}});
  TEST_ASSERT_TRUE(contains(ranks.text("tiktoken.model", "YQ== 0\n!!\n").error(), "line 2"));
  TEST_ASSERT_TRUE(contains(ranks.text("tiktoken.model", "YQ== 0\nYg== 2\n").error(), "are not 0 to 1"));
  TokenizerDirectory tekken(json{{"model_type", "mistral"}});
  const json vocabulary = json::array({{{"rank", 0}, {"token_bytes", "YQ=="}}});
  tekken.file("tekken.json", {{"config", {{"pattern", "a"}}}, {"vocab", vocabulary}});
  TEST_ASSERT_TRUE(contains(tekken.error(), "special_tokens is missing"));
}
