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

void check_golden(const fs::path& tokenizer_path, const fs::path& golden) {
  const test::TextTokenizer tokenizer(test::read_json_tokenizer(tokenizer_path));
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
  TEST_ASSERT_GREATER_THAN(100, count);
}

void check_shared_golden(const std::string& name) {
  const fs::path tokenizer = test::realdata("tokenizers") / name / "tokenizer.json";
  const fs::path golden = test::realdata("..") / "golden/tokenizers" / (name + ".jsonl");
  SKIP_WITHOUT(tokenizer);
  SKIP_WITHOUT(golden);
  check_golden(tokenizer, golden);
}

/// The texts of a llama.cpp vocabulary test and the ids it expects for each.
void check_llama_cpp(const std::string& name) {
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
    CHECK(tokenizer.decode(ids, 0) == text);
  }
  TEST_ASSERT_GREATER_THAN(40, count);
}

}  // namespace

TEST("a tokenizer of the GPT-4 family gives the ids, offsets and text of Hugging Face's") {
  const fs::path folder = fs::path(MOTE_SOURCE_DIR) / "tests/golden/tokenizers";
  check_golden(folder / "own_gpt4/tokenizer.json", folder / "own_gpt4.jsonl");
}

TEST("added tokens, Metaspace and steps of pre-tokenizers work together as in Hugging Face's") {
  const fs::path folder = fs::path(MOTE_SOURCE_DIR) / "tests/golden/tokenizers";
  check_golden(folder / "small/tokenizer.json", folder / "small.jsonl");
}

TEST("roberta-base's tokenizer gives the ids, offsets and text of Hugging Face's") {
  check_shared_golden("roberta-base");
}

TEST("whisper.tiny's tokenizer gives the ids, offsets and text of Hugging Face's") {
  check_shared_golden("whisper.tiny");
}

TEST("llama2's tokenizer gives the ids, offsets and text of Hugging Face's") {
  check_shared_golden("llama2");
}

TEST("GPT-2's vocabulary in a GGUF gives llama.cpp's ids") { check_llama_cpp("gpt-2"); }

TEST("Llama's SentencePiece vocabulary in a GGUF gives llama.cpp's ids") { check_llama_cpp("llama-spm"); }
