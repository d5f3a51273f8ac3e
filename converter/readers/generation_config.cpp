// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/generation_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/readers/json_file.h"
#include "converter/readers/json_text.h"

namespace mote::convert {
namespace {

using nlohmann::json;

constexpr int kGenerationDepth = 32;
constexpr uint32_t kMostBeams = 256, kMostLength = 1u << 24;

/// Keys that change what is generated and that no search here has, with the value that changes nothing.
struct NeutralKey {
  const char* key;
  double neutral;
};
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

/// The values, which say the name of their file.
class GenerationKeys {
 public:
  GenerationKeys(const json& keys, const std::string& where, uint32_t vocab,
                 const std::vector<std::string>& ignored)
      : keys_(keys), file_(where), vocab_(vocab), ignored_(ignored) {}

  const json* find(const char* key) const {
    const bool harmless = std::find(ignored_.begin(), ignored_.end(), key) != ignored_.end();
    return harmless ? nullptr : file_.find(keys_, key);
  }
  std::optional<uint32_t> size(const char* key, uint32_t most) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    return static_cast<uint32_t>(file_.size(*value, key, most));
  }
  std::optional<float> number(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
      file_.refuse_value(key, value, "a number");
    return value->get<float>();
  }
  int32_t id(const char* key, const json& value) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= vocab_)
      file_.refuse_value(key, &value, "an id of the vocabulary");
    return value.get<int32_t>();
  }
  /// An id or a list of one, -1 where there is none.
  int32_t id(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return -1;
    if (value->is_array() && value->size() == 1) return id(key, value->front());
    return id(key, *value);
  }
  std::vector<int32_t> ids(const char* key) const {
    std::vector<int32_t> found;
    const json* value = find(key);
    if (value == nullptr) return found;
    if (!value->is_array()) file_.refuse_value(key, value, "a list of ids");
    for (const json& one : *value) found.push_back(id(key, one));
    return found;
  }
  void refuse_unknown() const {
    for (const NeutralKey& one : kNeutralKeys) {
      const json* value = find(one.key);
      if (value == nullptr) continue;
      const bool neutral = value->is_boolean() ? value->get<bool>() == (one.neutral != 0)
                                               : value->is_number() && value->get<double>() == one.neutral;
      if (!neutral) refuse_key(one.key, *value);
    }
    for (const char* key : kAbsentKeys) {
      const json* value = find(key);
      if (value != nullptr && !value->empty()) refuse_key(key, *value);
    }
  }
  [[noreturn]] void refuse_key(const char* key, const json& value) const {
    file_.refuse("{} is {}, which mote's search does not have (--ignore-key {} leaves it out)", key,
                 value.dump(), key);
  }
  const JsonFile& file() const { return file_; }

 private:
  const json& keys_;
  JsonFile file_;
  uint32_t vocab_;
  const std::vector<std::string>& ignored_;
};

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
  for (const json& word : *value) {
    if (!word.is_array() || word.size() != 1) keys.refuse_key("bad_words_ids", word);
    const int32_t id = keys.id("bad_words_ids", word.front());
    if (std::find(stops.begin(), stops.end(), id) == stops.end()) defaults.suppressed_ids.push_back(id);
  }
}

}  // namespace

BeamDefaults read_beam_defaults(const Source& source, uint32_t vocab,
                                const std::vector<std::string>& ignored) {
  const auto path = source.directory / "generation_config.json";
  const bool hf = source.format == "hf";
  const json own = hf ? read_optional_json_object(path, kGenerationDepth) : json::object();
  const bool has_own = !own.empty();
  const GenerationKeys keys(has_own ? own : *source.config, (has_own ? path : source.config_path).string(),
                            vocab, ignored);
  keys.refuse_unknown();
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
    const bool is_absent = std::any_of(std::begin(kAbsentKeys), std::end(kAbsentKeys),
                                       [&](const char* one) { return key == one; });
    if (!is_neutral && !is_absent && key != "bad_words_ids") kept.push_back(key);
  }
  return kept;
}

}  // namespace mote::convert
