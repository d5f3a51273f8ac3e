// SPDX-License-Identifier: Apache-2.0
//
// Masks over vocabularies that models have: byte-level (GPT-2), SentencePiece (Llama) and WordPiece (BERT).
#include <algorithm>
#include <chrono>

#include "tests/grammar/schema_case.h"
#include "tests/support/realdata.h"
#include "tests/support/text_tokenizer.h"

namespace {

constexpr const char* kSchema =
    R"({"type":"object","properties":{"name":{"type":"string","maxLength":40},"age":{"type":"integer","minimum":0,"maximum":130},)"
    R"("tags":{"type":"array","items":{"enum":["red","green","blue"]},"maxItems":3},"text":{"type":"string"},"ok":{"type":"boolean"}},)"
    R"("required":["name","age","text"],"additionalProperties":false})";

std::unique_ptr<test::Words> words_of(const std::filesystem::path& gguf) {
  const mote::convert::TokenizerSpec spec = test::read_gguf_tokenizer(gguf);
  std::vector<std::string> texts;
  std::vector<bool> special;
  for (const auto& token : spec.tokens) {
    texts.push_back(token.text);
    special.push_back((token.flags & mote::kTokenSpecial) != 0);
  }
  texts.emplace_back("</end>");
  special.push_back(true);
  return std::make_unique<test::Words>(std::move(texts), std::move(special));
}

void check(const char* name) {
  const std::filesystem::path gguf =
      test::realdata("llama_cpp_vocabs") / (std::string("ggml-vocab-") + name + ".gguf");
  SKIP_WITHOUT(gguf);
  const auto words = words_of(gguf);
  const auto begin = std::chrono::steady_clock::now();
  const test::Tables tables(test::schema_source(kSchema), *words, true);
  const std::chrono::duration<double, std::milli> compiled = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(1);
  std::vector<double> micros;
  std::vector<uint32_t> mask((words->count() + 31) / 32);
  std::vector<uint64_t> scratch(mote_matcher_scratch_bytes(&tables.open()) / 8 + 1);
  for (int answer = 0; answer < 12; ++answer) {
    test::Matcher matcher(tables);
    std::string text;
    for (uint32_t left = 60; left > 0; --left) {
      const auto start = std::chrono::steady_clock::now();
      const mote_status status =
          mote_matcher_allow(matcher.get(), left, mask.data(), scratch.data(), scratch.size() * 8, nullptr);
      micros.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      INFO(name << ", after: " << text << ", tokens left: " << left);
      REQUIRE(status == MOTE_OK);
      const std::vector<int32_t> ids = matcher.allowed(left);
      // Every id on some states, some ids on all.
      for (int tries = 0; tries < 300; ++tries) {
        const auto id = static_cast<int32_t>(test::below(random, words->count()));
        test::Matcher copy = matcher;
        const bool accepted = copy.accept(id) && (id == words->stop() || copy.need() <= left - 1);
        REQUIRE(accepted == std::binary_search(ids.begin(), ids.end(), id));
      }
      if (answer == 0 && left % 9 == 0) REQUIRE(matcher.accepted(left) == ids);
      const int32_t id = ids[test::below(random, ids.size())];
      REQUIRE(matcher.accept(id));
      if (id == words->stop()) break;
      text += words->text(id);
      if (matcher.finished() == 2) break;
    }
    INFO(text);
    REQUIRE(matcher.finished() != 0);
    REQUIRE(nlohmann::json::accept(text));
  }
  std::sort(micros.begin(), micros.end());
  if (std::getenv("MOTE_SHOW_TIMES") != nullptr) {
    WARN(name << ": " << words->count() << " ids, compiled in " << compiled.count() << " ms, masks of "
              << micros.size() << " states in microseconds: p50 " << micros[micros.size() / 2] << ", p99 "
              << micros[micros.size() * 99 / 100] << ", most " << micros.back() << "; tables "
              << tables.bytes().size() << ", vocabulary " << words->tables().size());
  }
}

}  // namespace

TEST("masks of GPT-2's vocabulary have the ids that are accepted") { check("gpt-2"); }
TEST("masks of Llama's vocabulary have the ids that are accepted") { check("llama-spm"); }
TEST("masks of BERT's vocabulary have the ids that are accepted") { check("bert-bge"); }
