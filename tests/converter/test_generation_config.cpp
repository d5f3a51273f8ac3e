// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/generation_config.h"

#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

constexpr uint32_t kVocab = 100;

/// What is read where these files are beside each other; null: there is no generation_config.json.
BeamDefaults defaults_of(const json& config, const json& generation,
                         const std::vector<std::string>& ignored = {}) {
  const TempDirectory folder;
  if (!generation.is_null()) write_text(folder.path() / "generation_config.json", generation.dump());
  Source source;
  source.format = "hf";
  source.directory = folder.path();
  source.config_path = folder.path() / "config.json";
  source.config = std::make_shared<const json>(json::parse(config.dump()));
  source.stop_ids = {2};
  return read_beam_defaults(source, kVocab, ignored);
}

std::string refusal_of(const json& generation) {
  return message_of<Error>([&] { defaults_of(json::object(), generation); });
}

}  // namespace

TEST("generation config: the keys of a search become its options") {
  const BeamDefaults defaults = defaults_of(json::object(), {{"num_beams", 4},
                                                             {"early_stopping", true},
                                                             {"length_penalty", 2.0},
                                                             {"max_length", 142},
                                                             {"min_length", 56},
                                                             {"no_repeat_ngram_size", 3},
                                                             {"repetition_penalty", 1.25},
                                                             {"forced_bos_token_id", 0},
                                                             {"forced_eos_token_id", {2}},
                                                             {"suppress_tokens", {7}},
                                                             {"bad_words_ids", {{99}, {2}}},
                                                             {"decoder_start_token_id", 5}});
  TEST_ASSERT_EQUAL_UINT32(4, defaults.beams);
  TEST_ASSERT_EQUAL_UINT32(1, defaults.stop);
  TEST_ASSERT_TRUE(defaults.length_penalty == 2.0f && defaults.repetition_penalty == 1.25f);
  TEST_ASSERT_EQUAL_UINT32(141, defaults.max_tokens);
  TEST_ASSERT_EQUAL_UINT32(55, defaults.min_tokens);
  TEST_ASSERT_EQUAL_UINT32(3, defaults.no_repeat_ngram);
  TEST_ASSERT_EQUAL_INT32(0, defaults.forced_first_id);
  TEST_ASSERT_EQUAL_INT32(2, defaults.forced_last_id);
  TEST_ASSERT_EQUAL_INT32(5, defaults.start_id);
  TEST_ASSERT_TRUE(defaults.suppressed_ids == std::vector<int32_t>({7, 99}));
}

TEST("generation config: new tokens come before lengths, and a greedy search ends at its first end") {
  const BeamDefaults defaults =
      defaults_of(json::object(), {{"max_new_tokens", 30}, {"max_length", 20}, {"min_new_tokens", 4}});
  TEST_ASSERT_EQUAL_UINT32(30, defaults.max_tokens);
  TEST_ASSERT_EQUAL_UINT32(4, defaults.min_tokens);
  TEST_ASSERT_EQUAL_UINT32(1, defaults.beams);
  TEST_ASSERT_EQUAL_UINT32(1, defaults.stop);
  TEST_ASSERT_EQUAL_UINT32(2,
                           defaults_of(json::object(), {{"num_beams", 2}, {"early_stopping", "never"}}).stop);
}

TEST("generation config: config.json's older keys hold where the file is not there") {
  const json config = {{"num_beams", 6}, {"max_length", 512}, {"task_specific_params", nullptr}};
  TEST_ASSERT_EQUAL_UINT32(6, defaults_of(config, nullptr).beams);
  TEST_ASSERT_EQUAL_UINT32(511, defaults_of(config, nullptr).max_tokens);
  TEST_ASSERT_EQUAL_UINT32(1, defaults_of(config, {{"eos_token_id", 2}}).beams);
}

TEST("generation config: what no search here has is refused by name") {
  TEST_ASSERT_TRUE(contains(refusal_of({{"do_sample", true}}), "do_sample is true"));
  TEST_ASSERT_TRUE(contains(refusal_of({{"diversity_penalty", 0.5}}), "diversity_penalty"));
  TEST_ASSERT_TRUE(contains(refusal_of({{"bad_words_ids", {{3, 4}}}}), "bad_words_ids"));
  TEST_ASSERT_TRUE(contains(refusal_of({{"begin_suppress_tokens", {3}}}), "begin_suppress_tokens"));
  TEST_ASSERT_TRUE(contains(refusal_of({{"forced_bos_token_id", 100}}), "forced_bos_token_id is 100"));
  TEST_ASSERT_TRUE(contains(refusal_of({{"num_beams", 2}, {"early_stopping", 3}}), "early_stopping"));
  TEST_ASSERT_TRUE(contains(refusal_of({{"repetition_penalty", 0}}), "repetition_penalty"));
  TEST_ASSERT_TRUE(
      refusal_of({{"do_sample", false}, {"num_beam_groups", 1}, {"guidance_scale", nullptr}}).empty());
  TEST_ASSERT_EQUAL_UINT32(1, defaults_of(json::object(), {{"do_sample", true}}, {"do_sample"}).beams);
}

TEST("generation config: prefixes of tasks are prompts by their names") {
  Source source;
  source.config = std::make_shared<const json>(json{
      {"task_specific_params",
       {{"summarization", {{"prefix", "summarize: "}, {"num_beams", 4}}}, {"other", {{"num_beams", 1}}}}}});
  const std::vector<Prompt> prompts = read_task_prefixes(source);
  TEST_ASSERT_EQUAL_UINT64(1, prompts.size());
  TEST_ASSERT_EQUAL_STRING("summarization", prompts[0].name);
  TEST_ASSERT_EQUAL_STRING("summarize: ", prompts[0].text);
}
