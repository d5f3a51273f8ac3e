// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/generation_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "converter/readers/generation_keys.h"
#include "host/base/bytes.h"
#include "host/base/json_file.h"
#include "host/base/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kGenerationDepth = 32;
constexpr uint32_t kMostBeams = 256, kMostLength = 1u << 24;

/// Keys that no search here has.
constexpr NeutralKey kNeutralKeys[] = {
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"encoder_no_repeat_ngram_size", 0},
    {"encoder_repetition_penalty", 1},
    {"guidance_scale", 1},
    {"do_sample", 0},
    {"renormalize_logits", 0},
    {"penalty_alpha", 0},
};

/// Those that change nothing only where they are absent, null or empty.
constexpr const char* kAbsentKeys[] = {"exponential_decay_length_penalty",
                                       "sequence_bias",
                                       "constraints",
                                       "force_words_ids",
                                       "begin_suppress_tokens",
                                       "forced_decoder_ids",
                                       "watermarking_config"};

/// Keys that no generation without a source of ids has.
constexpr NeutralKey kDecoderNeutralKeys[] = {
    {"num_beams", 1},
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"guidance_scale", 1},
    {"typical_p", 1},
    {"epsilon_cutoff", 0},
    {"eta_cutoff", 0},
    {"penalty_alpha", 0},
    {"token_healing", 0},
    {"encoder_repetition_penalty", 1},
    {"encoder_no_repeat_ngram_size", 0},
};
constexpr const char* kDecoderAbsentKeys[] = {"exponential_decay_length_penalty",
                                              "sequence_bias",
                                              "constraints",
                                              "force_words_ids",
                                              "forced_bos_token_id",
                                              "forced_eos_token_id",
                                              "forced_decoder_ids",
                                              "top_h",
                                              "dola_layers",
                                              "watermarking_config"};

/// Further keys: those that are read, or that say how the original computes or what it returns.
constexpr const char* kKnownKeys[] = {"begin_suppress_tokens",
                                      "do_sample",
                                      "renormalize_logits",
                                      "remove_invalid_values",
                                      "length_penalty",
                                      "early_stopping",
                                      "min_length",
                                      "min_new_tokens",
                                      "suppress_tokens",
                                      "bad_words_ids",
                                      "no_repeat_ngram_size",
                                      "repetition_penalty",
                                      "decoder_start_token_id",
                                      "temperature",
                                      "top_k",
                                      "top_p",
                                      "min_p",
                                      "bos_token_id",
                                      "eos_token_id",
                                      "pad_token_id",
                                      "transformers_version",
                                      "_from_model_config",
                                      "use_cache",
                                      "use_mtp",
                                      "cache_implementation",
                                      "cache_config",
                                      "max_cache_len",
                                      "num_return_sequences",
                                      "output_attentions",
                                      "output_hidden_states",
                                      "output_scores",
                                      "output_logits",
                                      "return_dict_in_generate",
                                      "is_assistant",
                                      "num_assistant_tokens",
                                      "num_assistant_tokens_schedule",
                                      "assistant_confidence_threshold",
                                      "prompt_lookup_num_tokens",
                                      "max_matching_ngram_size",
                                      "assistant_early_exit",
                                      "assistant_lookbehind",
                                      "target_lookbehind",
                                      "assistant_ensemble_weight",
                                      "speculation_type",
                                      "compile_config",
                                      "disable_compile",
                                      "continuous_batching_config",
                                      "low_memory",
                                      "prefill_chunk_size",
                                      "trust_remote_code",
                                      "_commit_hash",
                                      "commit_message",
                                      "repo_id",
                                      "proxies",
                                      "subfolder"};

/// Returns whether a reader heeds the key, or it changes nothing.
bool is_known_key(const std::string& key) {
  const auto is_key = [&](const char* known) { return key == known; };
  const auto is_neutral = [&](const NeutralKey& known) { return key == known.key; };
  return std::any_of(std::begin(kKnownKeys), std::end(kKnownKeys), is_key) ||
         std::any_of(std::begin(kDecoderAbsentKeys), std::end(kDecoderAbsentKeys), is_key) ||
         std::any_of(std::begin(kDecoderNeutralKeys), std::end(kDecoderNeutralKeys), is_neutral);
}

uint8_t read_stop(const GenerationKeys& keys) {
  const json* value = keys.find("early_stopping");
  if (value == nullptr) return 0;
  if (value->is_boolean()) return value->get<bool>() ? 1 : 0;
  if (*value == json("never")) return 2;
  keys.file().refuse_value("early_stopping", value, "true, false or \"never\"");
}

/// Words of one token are never chosen, unless they end the text, as the original has it; of more tokens,
/// what is forbidden depends on those before.
void add_bad_words(const GenerationKeys& keys, const std::vector<int32_t>& stops, BeamDefaults& defaults) {
  const json* value = keys.find("bad_words_ids");
  if (value == nullptr) return;
  if (!value->is_array()) keys.file().refuse_value("bad_words_ids", value, "a list of lists of ids");
  const std::set<int32_t> ends(stops.begin(), stops.end());
  for (const json& word : *value) {
    if (!word.is_array() || word.size() != 1) keys.refuse_key("bad_words_ids", word);
    const int32_t id = keys.id("bad_words_ids", word.front());
    if (ends.count(id) == 0) defaults.suppressed_ids.push_back(id);
  }
}

/// The whole file; empty where there is none.
json own_keys(const Source& source) {
  return source.format == "hf"
             ? read_optional_json_object(source.directory / "generation_config.json", kGenerationDepth)
             : json::object();
}

/// Returns the keys of config.json for a search: the whole's, or where the whole has none its decoder's.
json keys_of_older_files(const json& config) {
  json keys = config;
  const auto decoder = config.find("decoder");
  if (decoder == config.end() || !decoder->is_object()) return keys;
  for (const auto& [key, value] : decoder->items()) {
    if (!keys.contains(key) || keys[key].is_null()) keys[key] = value;
  }
  return keys;
}

/// Sequences that are never completed, each after its length. An id that alone ends a text is none of them.
std::vector<int32_t> read_forbidden(const GenerationKeys& keys, const std::vector<int32_t>& stops) {
  std::vector<int32_t> list;
  const json* value = keys.find("bad_words_ids");
  if (value == nullptr) return list;
  if (!value->is_array()) keys.file().refuse_value("bad_words_ids", value, "a list of lists of ids");
  const std::set<int32_t> ends(stops.begin(), stops.end());
  for (const json& word : *value) {
    if (!word.is_array() || word.empty()) keys.file().refuse_value("bad_words_ids", &word, "a list of ids");
    std::vector<int32_t> ids;
    for (const json& id : word) ids.push_back(keys.id("bad_words_ids", id));
    if (ids.size() == 1 && ends.count(ids.front()) != 0) continue;
    list.push_back(static_cast<int32_t>(ids.size()));
    list.insert(list.end(), ids.begin(), ids.end());
  }
  return list;
}

void read_sampling(const GenerationKeys& keys, GenerationDefaults& defaults) {
  constexpr uint32_t kMostCandidates = 1u << 24, kUnsaid = 50;
  const json* samples = keys.find("do_sample");
  if (samples != nullptr && !samples->is_boolean())
    keys.file().refuse_value("do_sample", samples, "true or false");
  defaults.samples = samples != nullptr && samples->get<bool>();
  if (!defaults.samples) return;
  defaults.temperature = keys.number("temperature").value_or(1.0f);
  defaults.top_k = keys.size("top_k", kMostCandidates).value_or(kUnsaid);
  defaults.top_p = keys.number("top_p").value_or(1.0f);
  defaults.min_p = keys.number("min_p").value_or(0.0f);
  if (!(defaults.temperature > 0)) keys.file().refuse("temperature is not above 0");
  if (!(defaults.top_p > 0 && defaults.top_p <= 1)) keys.file().refuse("top_p is not above 0 and at most 1");
  if (!(defaults.min_p >= 0 && defaults.min_p <= 1)) keys.file().refuse("min_p is not 0 to 1");
}

}  // namespace

bool GenerationDefaults::is_plain() const { return describe().empty(); }

std::string GenerationDefaults::describe() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (samples) {
    add(fmt::format("sampled at temperature {}", temperature));
    if (top_k != 0) add(fmt::format("top_k {}", top_k));
    if (top_p != 1.0f) add(fmt::format("top_p {}", top_p));
    if (min_p != 0.0f) add(fmt::format("min_p {}", min_p));
  }
  if (repetition_penalty != 1.0f) add(fmt::format("repetition_penalty {}", repetition_penalty));
  if (no_repeat_ngram != 0) add(fmt::format("no_repeat_ngram_size {}", no_repeat_ngram));
  if (shortest != 0) add(fmt::format("min_length {}", shortest));
  if (min_tokens != 0) add(fmt::format("min_new_tokens {}", min_tokens));
  if (!forbidden.empty()) add("bad_words_ids");
  if (!suppressed_ids.empty()) add("suppress_tokens");
  if (!first_suppressed_ids.empty()) add("begin_suppress_tokens");
  return text;
}

GenerationDefaults read_generation_defaults(const Source& source, uint32_t vocab,
                                            const std::vector<std::string>& ignored) {
  const json own = own_keys(source);
  const bool has_own = !own.empty();
  const auto path = has_own ? source.directory / "generation_config.json" : source.config_path;
  const GenerationKeys keys(has_own ? own : *source.config, path.string(), vocab, ignored);
  GenerationDefaults defaults;
  if (source.format != "hf") return defaults;
  keys.refuse_unknown(kDecoderNeutralKeys, kDecoderAbsentKeys);
  read_sampling(keys, defaults);
  defaults.repetition_penalty = keys.number("repetition_penalty").value_or(1.0f);
  if (!(defaults.repetition_penalty > 0)) keys.file().refuse("repetition_penalty is not above 0");
  defaults.no_repeat_ngram = keys.size("no_repeat_ngram_size", kMostLength).value_or(0);
  defaults.shortest = keys.size("min_length", kMostLength).value_or(0);
  defaults.min_tokens = keys.size("min_new_tokens", kMostLength).value_or(0);
  defaults.suppressed_ids = keys.ids("suppress_tokens");
  defaults.first_suppressed_ids = keys.ids("begin_suppress_tokens");
  defaults.forbidden = read_forbidden(keys, source.stop_ids);
  return defaults;
}

std::vector<std::string> unread_generation_keys(const Source& source) {
  std::vector<std::string> unread;
  const json own = own_keys(source);
  for (const auto& [key, value] : own.items()) {
    const bool says_nothing =
        value.is_null() || value == json(false) || (value.is_structured() && value.empty());
    if (!says_nothing && !is_known_key(key)) unread.push_back(fmt::format("{} {}", key, shown(value.dump())));
  }
  return unread;
}

BeamDefaults read_beam_defaults(const Source& source, uint32_t vocab,
                                const std::vector<std::string>& ignored) {
  const auto path = source.directory / "generation_config.json";
  const json own = own_keys(source);
  const bool has_own = !own.empty();
  const json given = has_own ? own : keys_of_older_files(*source.config);
  const GenerationKeys keys(given, (has_own ? path : source.config_path).string(), vocab, ignored);
  keys.refuse_unknown(kNeutralKeys, kAbsentKeys);
  BeamDefaults defaults;
  defaults.beams = std::max(keys.size("num_beams", kMostBeams).value_or(1), 1u);
  defaults.stop = defaults.beams == 1 ? 1 : read_stop(keys);
  defaults.length_penalty = keys.number("length_penalty").value_or(1.0f);
  // The original counts the token that the decoder starts with.
  const uint32_t longest = keys.size("max_length", kMostLength).value_or(0);
  defaults.max_tokens = keys.size("max_new_tokens", kMostLength).value_or(longest == 0 ? 0 : longest - 1);
  const uint32_t shortest = keys.size("min_length", kMostLength).value_or(0);
  defaults.min_tokens = keys.size("min_new_tokens", kMostLength).value_or(shortest == 0 ? 0 : shortest - 1);
  defaults.forced_first_id = keys.id("forced_bos_token_id");
  defaults.forced_last_id = keys.id("forced_eos_token_id");
  defaults.suppressed_ids = keys.ids("suppress_tokens");
  add_bad_words(keys, source.stop_ids, defaults);
  defaults.no_repeat_ngram = keys.size("no_repeat_ngram_size", kMostLength).value_or(0);
  defaults.repetition_penalty = keys.number("repetition_penalty").value_or(1.0f);
  if (!(defaults.repetition_penalty > 0)) keys.file().refuse("repetition_penalty is not above 0");
  if (has_own) defaults.start_id = keys.id("decoder_start_token_id");
  return defaults;
}

std::vector<Prompt> read_task_prefixes(const Source& source) {
  std::vector<Prompt> prefixes;
  const auto tasks = source.config->find("task_specific_params");
  if (tasks == source.config->end() || !tasks->is_object()) return prefixes;
  for (const auto& [task, values] : tasks->items()) {
    if (!values.is_object()) continue;
    const auto prefix = values.find("prefix");
    if (prefix != values.end() && prefix->is_string()) prefixes.push_back({task, prefix->get<std::string>()});
  }
  return prefixes;
}

std::vector<std::string> keys_of_config(const std::vector<std::string>& ignored) {
  std::vector<std::string> kept;
  for (const std::string& key : ignored) {
    const bool is_neutral = std::any_of(std::begin(kNeutralKeys), std::end(kNeutralKeys),
                                        [&](const NeutralKey& one) { return key == one.key; });
    if (!is_neutral && !is_known_key(key)) kept.push_back(key);
  }
  return kept;
}

}  // namespace mote::convert
