// SPDX-License-Identifier: Apache-2.0
//
// Ids, offsets and text against Hugging Face's tokenizers and llama.cpp.
#include "tests/support/realdata.h"
#include "tests/support/text_tokenizer.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Character offsets of bytes.
std::vector<std::pair<uint32_t, uint32_t>> in_characters(const std::string& text,
                                                         const std::vector<mote_span>& spans) {
  std::vector<uint32_t> character(text.size() + 1);
  uint32_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) ++count;
    character[i + 1] = count;
  }
  std::vector<std::pair<uint32_t, uint32_t>> result;
  for (const mote_span& span : spans) result.emplace_back(character[span.begin], character[span.end]);
  return result;
}

void check_golden(const test::TextTokenizer& tokenizer, const fs::path& golden) {
  std::ifstream lines(golden);
  std::string line;
  size_t count = 0;
  while (std::getline(lines, line)) {
    const json expected = json::parse(line);
    const std::string text = expected["text"];
    CAPTURE(golden.string(), ++count, text);
    std::vector<mote_span> spans;
    const std::vector<int32_t> ids = tokenizer.encode(text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL, &spans);
    CHECK(ids == expected["ids"].get<std::vector<int32_t>>());
    CHECK(in_characters(text, spans) ==
          expected["offsets"].get<std::vector<std::pair<uint32_t, uint32_t>>>());
    CHECK(tokenizer.encode(text, MOTE_PARSE_SPECIAL) ==
          expected["ids_without_special"].get<std::vector<int32_t>>());
    CHECK(tokenizer.decode(ids, MOTE_SKIP_SPECIAL) == expected["decoded"].get<std::string>());
  }
  TEST_ASSERT_GREATER_THAN(90, count);
}

void check_golden(const fs::path& tokenizer, const fs::path& golden) {
  check_golden(test::TextTokenizer(test::read_json_tokenizer(tokenizer)), golden);
}

fs::path own_folder() { return fs::path(MOTE_SOURCE_DIR) / "tests/golden/tokenizers"; }

void check_own(const std::string& name) {
  check_golden(own_folder() / name / "tokenizer.json", own_folder() / (name + ".jsonl"));
}

void check_pairs(const std::string& name) {
  const test::TextTokenizer tokenizer(test::read_json_tokenizer(own_folder() / name / "tokenizer.json"));
  std::ifstream lines(own_folder() / (name + ".pairs.jsonl"));
  std::string line;
  size_t count = 0;
  while (std::getline(lines, line)) {
    const json expected = json::parse(line);
    const std::string texts[] = {expected["first"], expected["second"]};
    CAPTURE(name, ++count, texts[0], texts[1]);
    const test::TokenizedPair pair =
        tokenizer.encode_pair(texts[0], texts[1], MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL);
    CHECK(pair.ids == expected["ids"].get<std::vector<int32_t>>());
    json types = json::array(), sources = json::array(), offsets = json::array();
    for (size_t i = 0; i < pair.ids.size(); ++i) {
      const mote_token_kind kind = pair.kinds[i];
      types.push_back(kind.type);
      sources.push_back(kind.text == MOTE_NO_TEXT ? json() : json(kind.text));
      const auto span = in_characters(texts[kind.text == 1 ? 1 : 0], {pair.spans[i]}).front();
      offsets.push_back({span.first, span.second});
    }
    CHECK(types == expected["types"]);
    CHECK(sources == expected["texts"]);
    CHECK(offsets == expected["offsets"]);
  }
  TEST_ASSERT_GREATER_THAN(3, count);
}

void check_shared_golden(const std::string& name) {
  const fs::path tokenizer = test::realdata("tokenizers") / name / "tokenizer.json";
  const fs::path golden = test::realdata("..") / "golden/tokenizers" / (name + ".jsonl");
  SKIP_WITHOUT(tokenizer);
  SKIP_WITHOUT(golden);
  check_golden(tokenizer, golden);
}

/// The texts of a llama.cpp vocabulary test and the ids it expects for each; `texts_come_back`: ids become
/// the text again.
void check_llama_cpp(const std::string& name, bool texts_come_back = true) {
  const fs::path gguf = test::realdata("llama_cpp_vocabs") / ("ggml-vocab-" + name + ".gguf");
  SKIP_WITHOUT(gguf);
  const test::TextTokenizer tokenizer(test::read_gguf_tokenizer(gguf));
  const std::string separator = "\n__ggml_vocab_test__\n";
  const std::string texts = read_text(gguf.string() + ".inp");
  std::istringstream lines(read_text(gguf.string() + ".out"));
  std::string line;
  size_t begin = 0, count = 0;
  while (std::getline(lines, line)) {
    REQUIRE(begin <= texts.size());
    const size_t end = std::min(texts.find(separator, begin), texts.size());
    const std::string text = texts.substr(begin, end - begin);
    begin = end + separator.size();
    std::istringstream numbers(line);
    const std::vector<int32_t> expected{std::istream_iterator<int32_t>(numbers), {}};
    CAPTURE(++count, text);
    const std::vector<int32_t> ids = tokenizer.encode(text, 0);
    CHECK(ids == expected);
    if (texts_come_back) CHECK(tokenizer.decode(ids, 0) == text);
  }
  TEST_ASSERT_GREATER_THAN(40, count);
}

}  // namespace

TEST("a tokenizer of the GPT-4 family gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_own("own_gpt4");
}

TEST("added tokens, Metaspace and steps of pre-tokenizers work together as in Hugging Face's", "[text]") {
  check_own("small");
}

TEST("WordPiece behind BERT's normalizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_own("own_wordpiece");
}

TEST("Unigram behind a precompiled map gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_own("own_unigram");
}

TEST("byte pairs behind NFC that know where words end give the ids, offsets and text of Hugging Face's",
     "[values]") {
  check_own("own_clip");
}

TEST("pairs of texts have the ids, types, offsets and sources of Hugging Face's", "[values]") {
  for (const char* name : {"own_wordpiece", "own_unigram", "own_clip"}) check_pairs(name);
}

TEST("BERT's tokenizer from vocab.txt is that of tokenizer.json", "[text]") {
  const json root = json::parse(read_text(own_folder() / "own_wordpiece/tokenizer.json"));
  std::map<uint32_t, std::string> pieces;
  for (const auto& [piece, id] : root["model"]["vocab"].items()) pieces[id] = piece;
  std::string lines;
  for (const auto& [id, piece] : pieces) lines += piece + "\n";
  const std::string config = R"({"do_lower_case": true, "cls_token": {"content": "[CLS]"}})";
  const test::TextTokenizer tokenizer(
      mote::convert::read_bert_vocabulary(std::as_bytes(std::span(lines)), std::as_bytes(std::span(config)),
                                          "vocab.txt", "tokenizer_config.json"));
  check_golden(tokenizer, own_folder() / "own_wordpiece.jsonl");
  const test::TokenizedPair pair = tokenizer.encode_pair("a", "a", MOTE_ADD_SPECIAL);
  REQUIRE(pair.kinds.back().type == 1);
}

TEST("all-MiniLM-L6-v2's tokenizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_shared_golden("all-MiniLM-L6-v2");
}

TEST("t5-small's tokenizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_shared_golden("t5-small");
}

TEST("clip's tokenizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_shared_golden("clip");
}

TEST("roberta-base's tokenizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_shared_golden("roberta-base");
}

TEST("whisper.tiny's tokenizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_shared_golden("whisper.tiny");
}

TEST("llama2's tokenizer gives the ids, offsets and text of Hugging Face's", "[values]") {
  check_shared_golden("llama2");
}

TEST("GPT-2's vocabulary in a GGUF gives llama.cpp's ids", "[text]") { check_llama_cpp("gpt-2"); }

TEST("vocabularies in GGUFs whose pre-tokenizers have names give llama.cpp's ids", "[text]") {
  for (const char* name : {"deepseek-coder", "deepseek-llm", "falcon", "mpt", "refact", "starcoder", "phi-3",
                           "qwen2", "llama-bpe", "command-r"}) {
    check_llama_cpp(name, false);
  }
}

TEST("Llama's SentencePiece vocabulary in a GGUF gives llama.cpp's ids", "[text]") {
  check_llama_cpp("llama-spm");
}

TEST("BERT's vocabulary in a GGUF gives llama.cpp's ids", "[text]") { check_llama_cpp("bert-bge", false); }
