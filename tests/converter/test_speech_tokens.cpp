// SPDX-License-Identifier: Apache-2.0
//
// What a source says of Whisper's tokens.
#include "converter/speech_tokens.h"

#include <nlohmann/json.hpp>

#include "converter/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using mote::testing::TempDirectory;
using nlohmann::json;

namespace {

constexpr uint32_t kEnglish = 51864, kMultilingual = 51865;

/// Ids from 50257 on.
TokenizerSpec marks() {
  TokenizerSpec tokenizer;
  uint32_t id = 50257;
  for (const char* text :
       {"<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|haw|>", "<|translate|>", "<|transcribe|>",
        "<|startoflm|>", "<|startofprev|>", "<|nocaptions|>", "<|notimestamps|>"}) {
    tokenizer.added.push_back({text, id++, 0, false});
  }
  return tokenizer;
}

SpeechSpec speech_of(const json& generation, const json& config, uint32_t vocab) {
  static const TempDirectory directory;
  mote::testing::write_text(directory / "generation_config.json", generation.dump());
  Source source;
  source.directory = directory.path();
  source.config = std::make_shared<const json>(json::parse(config.dump()));
  const TokenizerSpec tokenizer = marks();
  return read_speech_tokens(source, &tokenizer, vocab);
}

std::string speech_error(const json& generation) {
  return mote::testing::message_of<Error>([&] { speech_of(generation, json::object(), kMultilingual); });
}

}  // namespace

TEST("speech tokens: times begin behind the token for none, and English models have no languages") {
  const SpeechSpec speech = speech_of(json::object(), {{"suppress_tokens", {1, 7}}}, kEnglish);
  TEST_ASSERT_EQUAL_INT32(50266, speech.no_timestamps);
  TEST_ASSERT_EQUAL_INT32(50267, speech.first_timestamp);
  TEST_ASSERT_EQUAL_INT32(50264, speech.previous);
  TEST_ASSERT_EQUAL_INT32(50265, speech.no_speech);
  TEST_ASSERT_TRUE(speech.languages.empty());
  TEST_ASSERT_EQUAL_INT32(-1, speech.translate);
  TEST_ASSERT_TRUE(speech.suppressed == std::vector<int32_t>({1, 7}));
  TEST_ASSERT_TRUE(speech.suppressed_first.empty());
}

TEST("speech tokens: languages are added tokens before the tasks, or those that lang_to_id names") {
  const SpeechSpec added = speech_of(json::object(), json::object(), kMultilingual);
  TEST_ASSERT_TRUE(added.languages == std::vector<std::string>({"en", "haw"}));
  TEST_ASSERT_TRUE(added.language_ids == std::vector<int32_t>({50259, 50260}));
  TEST_ASSERT_EQUAL_INT32(50262, added.transcribe);
  const SpeechSpec named = speech_of({{"lang_to_id", {{"<|de|>", 9}}},
                                      {"task_to_id", {{"transcribe", 5}, {"translate", 4}}},
                                      {"no_timestamps_token_id", 3},
                                      {"begin_suppress_tokens", {2}},
                                      {"is_multilingual", true}},
                                     json::object(), kMultilingual);
  TEST_ASSERT_TRUE(named.languages == std::vector<std::string>({"de"}));
  TEST_ASSERT_TRUE(named.language_ids == std::vector<int32_t>({9}));
  TEST_ASSERT_EQUAL_INT32(4, named.translate);
  TEST_ASSERT_EQUAL_INT32(4, named.first_timestamp);
  TEST_ASSERT_TRUE(named.suppressed_first == std::vector<int32_t>({2}));
}

TEST("speech tokens: ids that the vocabulary lacks are refused by their key") {
  for (const char* key : {"suppress_tokens", "begin_suppress_tokens"})
    TEST_ASSERT_TRUE(speech_error({{key, {51865}}}).find(key) != std::string::npos);
  for (const char* key : {"no_timestamps_token_id", "prev_sot_token_id"})
    TEST_ASSERT_TRUE(speech_error({{key, -3}}).find(key) != std::string::npos);
  TEST_ASSERT_TRUE(speech_error({{"lang_to_id", {{"<|en|>", "x"}}}}).find("lang_to_id") != std::string::npos);
}
