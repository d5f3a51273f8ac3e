// SPDX-License-Identifier: Apache-2.0
//
// The rules of a generation_config.json, from the file's keys to the changed logits, against transformers'
// generate (scripts/make_known_generation).
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/readers/generation_config.h"
#include "host/base/error.h"
#include "runtime/exec/token_rules.h"
#include "schema/mote_generated.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::read_text;
using mote::testing::TempDirectory;
using mote::testing::write_text;
using nlohmann::json;

namespace {

GenerationDefaults defaults_of_keys(const json& keys, const std::vector<int32_t>& stops, uint32_t vocab) {
  const TempDirectory folder;
  write_text(folder.path() / "generation_config.json", keys.dump());
  Source source;
  source.format = "hf";
  source.directory = folder.path();
  source.config_path = folder.path() / "config.json";
  source.config = std::make_shared<const json>(json::object());
  source.stop_ids = stops;
  return read_generation_defaults(source, vocab, {});
}

mote_token_rules rules_from(const GenerationDefaults& defaults) {
  mote_token_rules rules{};
  rules.repetition_penalty = defaults.repetition_penalty;
  rules.no_repeat_ngram = defaults.no_repeat_ngram;
  rules.forbidden = defaults.forbidden.data();
  rules.forbidden_count = static_cast<uint32_t>(defaults.forbidden.size());
  rules.shortest = defaults.shortest;
  rules.min_tokens = defaults.min_tokens;
  rules.suppressed_ids = defaults.suppressed_ids.data();
  rules.suppressed_count = static_cast<uint32_t>(defaults.suppressed_ids.size());
  rules.first_suppressed_ids = defaults.first_suppressed_ids.data();
  rules.first_suppressed_count = static_cast<uint32_t>(defaults.first_suppressed_ids.size());
  return rules;
}

}  // namespace

TEST("generation: rules change logits as transformers' generate does") {
  const json known = json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/generation.json"));
  const auto vocab = known.at("vocab").get<uint32_t>();
  const auto stops = known.at("stops").get<std::vector<int32_t>>();
  for (const json& one : known.at("cases")) {
    const GenerationDefaults defaults = defaults_of_keys(one.at("keys"), stops, vocab);
    const mote_token_rules rules = rules_from(defaults);
    REQUIRE(rules_problem(rules) == nullptr);
    auto ids = one.at("prompt").get<std::vector<int32_t>>();
    const auto made = one.at("made").get<std::vector<int32_t>>();
    ids.insert(ids.end(), made.begin(), made.end());
    const auto logits = one.at("logits").get<std::vector<float>>();
    std::vector<Candidate> candidates;
    for (uint32_t id = 0; id < vocab; ++id) candidates.push_back({logits[id], static_cast<int32_t>(id)});
    const RuledTokens ruled{
        &rules,       ids.data(), static_cast<uint32_t>(ids.size()),   static_cast<uint32_t>(made.size()),
        stops.data(), nullptr,    static_cast<uint32_t>(stops.size()), 0};
    apply_rules(ruled, vocab, logits.data(), candidates.data());
    for (uint32_t id = 0; id < vocab; ++id) {
      const json& score = one.at("scores")[id];
      CAPTURE(one.dump(), id);
      CHECK(candidates[id].score == (score.is_null() ? -INFINITY : score.get<float>()));
    }
  }
}

TEST("generation: what a file cannot mean is refused, what mote lacks by its key") {
  const auto refusal = [](const json& keys) {
    return mote::testing::message_of<Error>([&] { defaults_of_keys(keys, {2}, 24); });
  };
  for (const auto& [keys, part] : {std::pair<json, const char*>{{{"num_beams", 4}}, "num_beams is 4"},
                                   {{{"typical_p", 0.5}}, "typical_p is 0.5"},
                                   {{{"sequence_bias", {{{1, 2}, 0.5}}}}, "sequence_bias"},
                                   {{{"repetition_penalty", 0}}, "repetition_penalty"},
                                   {{{"do_sample", true}, {"temperature", 0}}, "temperature"},
                                   {{{"do_sample", true}, {"top_p", 1.5}}, "top_p"},
                                   {{{"bad_words_ids", {{24}}}}, "bad_words_ids"},
                                   {{{"bad_words_ids", {json::array()}}}, "bad_words_ids"}}) {
    const std::string message = refusal(keys);
    CAPTURE(message);
    REQUIRE(message.find(part) != std::string::npos);
  }
  TEST_ASSERT_EQUAL_STRING("", refusal({{"num_beams", 1}, {"typical_p", 1.0}, {"sequence_bias", nullptr}}));
}

TEST("generation: sampling is that of the file where it samples, top_k 50 where it says none") {
  const GenerationDefaults greedy = defaults_of_keys({{"temperature", 0.6}, {"top_p", 0.9}}, {2}, 24);
  TEST_ASSERT_TRUE(greedy.is_plain());
  const GenerationDefaults sampled =
      defaults_of_keys({{"do_sample", true}, {"temperature", 0.6}, {"top_p", 0.9}}, {2}, 24);
  TEST_ASSERT_EQUAL_STRING("sampled at temperature 0.6, top_k 50, top_p 0.9", sampled.describe());
}
