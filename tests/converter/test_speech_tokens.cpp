// SPDX-License-Identifier: Apache-2.0
//
// What a source says of Whisper's tokens.
#include "converter/speech_tokens.h"

#include <nlohmann/json.hpp>

#include "host/base/error.h"
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

SpeechSettings speech_of(const json& generation, const json& config, uint32_t vocab) {
  static const TempDirectory directory;
  mote::testing::write_text(directory / "generation_config.json", generation.dump());
  Source source;
  source.directory = directory.path();
  source.config = std::make_shared<const json>(json::parse(config.dump()));
  const TokenizerSpec tokenizer = marks();
  return read_speech_tokens(source, &tokenizer, vocab);
}

std::vector<std::string> codes_of(const SpeechSettings& speech) {
  std::vector<std::string> codes;
  for (const LanguageSpec& language : speech.languages) codes.push_back(language.code);
  return codes;
}

std::string speech_error(const json& generation) {
  return mote::testing::message_of<Error>([&] { speech_of(generation, json::object(), kMultilingual); });
}

}  // namespace

TEST("speech tokens: times begin behind the token for none, and English models have no languages") {
  const SpeechSettings speech = speech_of(json::object(), {{"suppress_tokens", {1, 7}}}, kEnglish);
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
  const SpeechSettings added = speech_of({{"task", "transcribe"}}, json::object(), kMultilingual);
  TEST_ASSERT_TRUE(codes_of(added) == std::vector<std::string>({"en", "haw"}));
  TEST_ASSERT_TRUE(added.languages[0].id == 50259 && added.languages[1].id == 50260);
  TEST_ASSERT_EQUAL_INT32(50262, added.transcribe);
  const SpeechSettings named = speech_of({{"lang_to_id", {{"<|de|>", 9}}},
                                          {"task_to_id", {{"transcribe", 5}, {"translate", 4}}},
                                          {"no_timestamps_token_id", 3},
                                          {"begin_suppress_tokens", {2}},
                                          {"is_multilingual", true}},
                                         json::object(), kMultilingual);
  TEST_ASSERT_TRUE(codes_of(named) == std::vector<std::string>({"de"}));
  TEST_ASSERT_EQUAL_INT32(9, named.languages[0].id);
  TEST_ASSERT_EQUAL_INT32(4, named.translate);
  TEST_ASSERT_EQUAL_INT32(4, named.first_timestamp);
  TEST_ASSERT_TRUE(named.suppressed_first == std::vector<int32_t>({2}));
}

TEST("speech tokens: a language by name, code or token, and a task, are the file's defaults") {
  for (const char* language : {"Haitian", "ht", "<|ht|>"}) {
    CAPTURE(language);
    const json known = {{"lang_to_id", {{"<|de|>", 9}, {"<|ht|>", 8}}},
                        {"task_to_id", {{"transcribe", 5}, {"translate", 4}}},
                        {"language", language},
                        {"task", "translate"}};
    const SpeechSettings speech = speech_of(known, json::object(), kMultilingual);
    TEST_ASSERT_EQUAL_STRING("ht", speech.languages.at(speech.language - 1).code);
    TEST_ASSERT_TRUE(speech.translates);
  }
  TEST_ASSERT_EQUAL_UINT32(0, speech_of({{"language", "English"}}, json::object(), kEnglish).language);
  TEST_ASSERT_TRUE(speech_error({{"language", "klingon"}}).find("a language that the model knows") !=
                   std::string::npos);
  TEST_ASSERT_TRUE(speech_error({{"task", "sing"}}).find("task") != std::string::npos);
}

TEST("speech tokens: forced ids count where neither language nor task is named, of config.json as well") {
  const json forced = {{"forced_decoder_ids", {{1, 50260}, {2, 50261}, {3, 50266}}}};
  const json transcribes = {{"forced_decoder_ids", {{1, nullptr}, {2, 50262}}}};
  for (const bool in_config : {false, true}) {
    const SpeechSettings speech =
        speech_of(in_config ? json::object() : forced, in_config ? forced : json::object(), kMultilingual);
    TEST_ASSERT_EQUAL_UINT32(2, speech.language);
    TEST_ASSERT_TRUE(speech.translates);
  }
  const SpeechSettings heard = speech_of(transcribes, forced, kMultilingual);
  TEST_ASSERT_TRUE(heard.language == 0 && !heard.translates);
  json named = forced;
  named["task"] = "transcribe";
  const SpeechSettings task = speech_of(named, json::object(), kMultilingual);
  TEST_ASSERT_TRUE(task.language == 0 && !task.translates);
  TEST_ASSERT_TRUE(
      speech_of({{"forced_decoder_ids", {{2, 50261}}}}, json::object(), kMultilingual).translates == false);
  for (const json& ids : {json{{1, 50260}, {3, 50261}}, json{{1, 7}}, json{{1, "x"}}, json{{1}}, json("x")}) {
    CAPTURE(ids.dump());
    TEST_ASSERT_TRUE(speech_error({{"forced_decoder_ids", ids}}).find("forced_decoder_ids") !=
                     std::string::npos);
  }
}

TEST("speech tokens: texts begin with the language and the task that transformers begins with") {
  const json known = json::parse(
      mote::testing::read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/sound/whisper.json"));
  TEST_ASSERT_GREATER_THAN(10u, known.at("cases").size());
  for (const json& one : known.at("cases")) {
    CAPTURE(one.dump());
    const SpeechSettings speech = speech_of(one.at("generation"), one.at("config"), 100);
    std::vector<int32_t> tokens;
    if (speech.language != 0) tokens.push_back(speech.languages.at(speech.language - 1).id);
    tokens.push_back(speech.translates ? speech.translate : speech.names_task ? speech.transcribe : -1);
    std::erase(tokens, -1);
    TEST_ASSERT_TRUE(tokens == one.at("tokens").get<std::vector<int32_t>>());
  }
}

TEST("speech tokens: generation_config.json alone says which are suppressed, where it is there") {
  const json both = {{"suppress_tokens", nullptr}, {"begin_suppress_tokens", {3}}};
  const SpeechSettings speech = speech_of(both, {{"suppress_tokens", {1, 7}}}, kEnglish);
  TEST_ASSERT_TRUE(speech.suppressed.empty());
  TEST_ASSERT_TRUE(speech.suppressed_first == std::vector<int32_t>({3}));
}

TEST("speech tokens: keys of a search that Whisper's own has not are named, those of its tokens are not") {
  static const TempDirectory directory;
  const json generation = {{"num_beams", 5},
                           {"do_sample", false},
                           {"lang_to_id", {{"<|en|>", 1}}},
                           {"max_initial_timestamp_index", 1},
                           {"alignment_heads", {{1, 2}}},
                           {"repetition_penalty", 1.0},
                           {"max_length", 448},
                           {"some_new_key", 7}};
  mote::testing::write_text(directory / "generation_config.json", generation.dump());
  Source source;
  source.format = "hf";
  source.directory = directory.path();
  source.config = std::make_shared<const json>(json::object());
  TEST_ASSERT_TRUE(unread_speech_keys(source) == std::vector<std::string>({"some_new_key 7", "num_beams 5"}));
}

TEST("speech tokens: a text begins with one of as many timestamps as the source says, else within a second") {
  TEST_ASSERT_EQUAL_UINT32(50, speech_of(json::object(), json::object(), kEnglish).latest_first);
  const json one = {{"max_initial_timestamp_index", 1}};
  TEST_ASSERT_EQUAL_UINT32(1, speech_of(one, json::object(), kEnglish).latest_first);
  TEST_ASSERT_TRUE(speech_error({{"max_initial_timestamp_index", -1}}).find("max_initial_timestamp_index") !=
                   std::string::npos);
}

TEST("speech tokens: ids that the vocabulary lacks are refused by their key") {
  for (const char* key : {"suppress_tokens", "begin_suppress_tokens"})
    TEST_ASSERT_TRUE(speech_error({{key, {51865}}}).find(key) != std::string::npos);
  for (const char* key : {"no_timestamps_token_id", "prev_sot_token_id"})
    TEST_ASSERT_TRUE(speech_error({{key, -3}}).find(key) != std::string::npos);
  TEST_ASSERT_TRUE(speech_error({{"lang_to_id", {{"<|en|>", "x"}}}}).find("lang_to_id") != std::string::npos);
}
