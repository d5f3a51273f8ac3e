// SPDX-License-Identifier: Apache-2.0
#include "converter/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "converter/config_keys.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

// Keys that change no result whatever they hold: bookkeeping, training, sampling defaults, other heads.
constexpr auto kHarmless = std::to_array<std::string_view>({
    "architectures",
    "model_type",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "use_cache",
    "name_or_path",
    "initializer_range",
    "resid_pdrop",
    "emb_pdrop",
    "embd_pdrop",
    "attn_pdrop",
    "reorder_and_upcast_attn",
    "gradient_checkpointing",
    "use_bfloat16",
    "torchscript",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "return_dict",
    "return_dict_in_generate",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "finetuning_task",
    "task_specific_params",
    "prefix",
    "tokenizer_class",
    "n_ctx",
    "is_decoder",
    "output_past",
    "tie_weights_",
    "directionality",
    "down_scale_factor",
    "gap_size",
    "net_structure_type",
    "num_memory_blocks",
    "is_llama_config",
    "transformers.js_config",
    "tf_legacy_loss",
    "do_sample",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "max_length",
    "min_length",
    "max_new_tokens",
    "num_beams",
    "num_beam_groups",
    "num_return_sequences",
    "diversity_penalty",
    "length_penalty",
    "early_stopping",
    "repetition_penalty",
    "encoder_no_repeat_ngram_size",
    "no_repeat_ngram_size",
    "bad_words_ids",
    "exponential_decay_length_penalty",
    "begin_suppress_tokens",
    "suppress_tokens",
    "remove_invalid_values",
    "forced_decoder_ids",
    // In how many parts rows are computed.
    "chunk_size_feed_forward",
    // Keys that BERT's first checkpoints, converters, hubs and trainers leave behind.
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
    "language",
    "languages",
    "name",
    "model_name",
    "license",
    "author",
    "auto_map",
    "attn_implementation",
    "model_max_length",
    "max_seq_length",
    "max_sequence_length",
    "tokenizer_model_max_length",
    "tokenizer_padding_side",
    "tokenizer_name",
    "padding_side",
    "custom_pipelines",
    "pipeline_tag",
    "onnx",
    "adapters",
    "bos_token",
    "eos_token",
    "pad_token",
    "unk_token",
    "eos_token_ids",
    "n_special",
    "predict_special_tokens",
    "afn",
    "xla_device",
    "use_return_dict",
    "keys_to_ignore_at_inference",
    "cache_implementation",
    "gradient_checkpointing_kwargs",
    "initializer_factor",
    "init_std",
    "label_smoothing",
    "layerdrop",
    "encoder_layerdrop",
    "training_args",
    "base_model",
    "base_model_name_or_path",
    "sentence_transformers",
    "sbert_ce_default_activation_function",
    "default_prompt_name",
});

bool ends_with_any(std::string_view key, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return key.ends_with(end); });
}

bool is_harmless_key(std::string_view key) {
  return key.starts_with("_") || key.starts_with("summary_") || key.starts_with("unsloth_") ||
         ends_with_any(key, {"_token_id", "dropout", "_dropout_prob"}) ||
         std::find(kHarmless.begin(), kHarmless.end(), key) != kHarmless.end();
}

// Keys that change results, but not at this value.
bool is_harmless_value(std::string_view key, const nlohmann::json& value) {
  static const std::array<std::pair<std::string_view, nlohmann::json>, 11> kNeutral = {{
      {"pretraining_tp", 1},
      {"partial_rotary_factor", 1.0},
      {"add_cross_attention", false},
      {"is_encoder_decoder", false},
      {"tie_encoder_decoder", false},
      {"pruned_heads", nlohmann::json::object()},
      {"rope_interleaved", false},
      {"use_mrope", false},
      {"use_qk_norm", false},
      {"use_task_id", false},
      {"is_causal", true},
  }};
  if (value.is_null()) return true;
  return std::any_of(kNeutral.begin(), kNeutral.end(),
                     [&](const auto& entry) { return entry.first == key && entry.second == value; });
}

/// Returns the key that is another spelling of this one, of which a class reads one alone; empty: none.
std::string_view other_spelling(std::string_view key) {
  static constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {"hidden_act", "hidden_activation"},
      {"layer_norm_eps", "norm_eps"},
      {"rms_norm_eps", "norm_eps"},
  };
  for (const auto& [one, other] : kSpellings) {
    if (key == one) return other;
  }
  return {};
}

}  // namespace

Config::Config(const nlohmann::json& json, const std::string& where) : Config(json, JsonFile(where), "") {
  findings_ = std::make_shared<Findings>();
}

Config::Config(const nlohmann::json& json, JsonFile file, std::string prefix)
    : json_(json), file_(std::move(file)), prefix_(std::move(prefix)) {
  if (!json_.is_object()) refuse("expected a JSON object, found {}", json_.type_name());
  const auto type = json_.find("model_type");
  if (type != json_.end() && type->is_string()) type_ = type->get<std::string>();
}

Config Config::inner(const nlohmann::json& json, const std::string& prefix) const {
  Config result(json, file_, prefix);
  result.findings_ = findings_;
  result.outer_type_ = OriginalKeys::find(type_) == nullptr ? outer_type_ : type_;
  // "text_config." of a clip is "clip.text_config", whether or not it says its own type.
  if (OriginalKeys::find(result.type_) == nullptr && !prefix.empty())
    result.type_ = type_ + "." + prefix.substr(0, prefix.size() - 1);
  return result;
}

const nlohmann::json* Config::spelled(const std::string& key) const {
  const auto found = json_.find(key);
  const auto other = json_.find(std::string(OriginalKeys::other_name(type_, key)));
  if (other == json_.end() || other->is_null()) return found == json_.end() ? nullptr : &*found;
  if (found != json_.end() && !found->is_null() && *found != *other)
    refuse("{} is {}, but {} is {}, and both are names of one value", prefix_ + key, found->dump(),
           other.key(), other->dump());
  return &*other;
}

bool Config::has(const std::string& key) const {
  const nlohmann::json* found = spelled(key);
  return found != nullptr && !found->is_null();
}

bool Config::is_null(const std::string& key) const { return json_.contains(key) && !has(key); }

const nlohmann::json* Config::find(const std::string& key) {
  read_.insert(key);
  const nlohmann::json* found = spelled(key);
  const std::string_view other = OriginalKeys::other_name(type_, key);
  if (!other.empty()) read_.insert(std::string(other));
  return found;
}

const nlohmann::json* Config::value(const std::string& key) {
  const nlohmann::json* found = find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

uint32_t Config::size(const std::string& key, uint32_t least, uint32_t most) {
  const nlohmann::json* found = find(key);
  // A whole number written as 8192.0 is one.
  const double number = found != nullptr && found->is_number() ? found->get<double>() : std::nan("");
  if (!(number >= least && number <= most) || number != std::floor(number)) {
    refuse_value(key, found, fmt::format("a whole number from {} to {}", least, most));
  }
  return static_cast<uint32_t>(number);
}

uint32_t Config::size(const std::string& key, uint32_t least, uint32_t most, uint32_t fallback) {
  return find(key) == nullptr ? fallback : size(key, least, most);
}

std::optional<uint32_t> Config::optional_size(const std::string& key, uint32_t least, uint32_t most,
                                              std::optional<uint32_t> fallback) {
  if (find(key) == nullptr) return fallback;
  return value(key) == nullptr ? std::nullopt : std::optional(size(key, least, most));
}

double Config::number(const std::string& key) {
  const nlohmann::json* found = find(key);
  if (found == nullptr || !found->is_number() || !std::isfinite(found->get<double>())) {
    refuse_value(key, found, "a number");
  }
  return found->get<double>();
}

double Config::number(const std::string& key, double fallback) {
  return find(key) == nullptr ? fallback : number(key);
}

std::optional<double> Config::optional_number(const std::string& key) {
  return value(key) == nullptr ? std::nullopt : std::optional(number(key));
}

bool Config::flag(const std::string& key, bool fallback) {
  const nlohmann::json* found = find(key);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) refuse_value(key, found, "true or false");
  return found->get<bool>();
}

std::string Config::text(const std::string& key) {
  const nlohmann::json* found = find(key);
  if (found == nullptr || !found->is_string()) refuse_value(key, found, "a text");
  return found->get<std::string>();
}

std::string Config::text(const std::string& key, const std::string& fallback) {
  return find(key) == nullptr ? fallback : text(key);
}

std::optional<std::string> Config::optional_text(const std::string& key) {
  return value(key) == nullptr ? std::nullopt : std::optional(text(key));
}

int32_t Config::token_id(const std::string& key, uint32_t vocab, int64_t fallback) {
  const nlohmann::json* found = find(key);
  if (found != nullptr && (found->is_null() || found->is_array())) return -1;
  if (found != nullptr && !found->is_number_integer()) refuse_value(key, found, "a token id");
  const double id = found == nullptr ? static_cast<double>(fallback) : found->get<double>();
  return id >= 0 && id < vocab ? static_cast<int32_t>(id) : -1;
}

int32_t Config::token_id_of_class(const std::string& key, uint32_t vocab) {
  const OriginalKeys* original = OriginalKeys::find(type_);
  const nlohmann::json* known = original == nullptr ? nullptr : original->default_of(key);
  return token_id(key, vocab, known != nullptr && known->is_number_integer() ? known->get<int64_t>() : -1);
}

bool Config::is_understood(const std::string& key, const nlohmann::json& value) const {
  if (read_.count(key) != 0 || is_harmless_key(key) || is_harmless_value(key, value)) return true;
  const OriginalKeys* original = OriginalKeys::find(type_);
  return original != nullptr && original->is_default(key, value);
}

void Config::finish() const {
  const OriginalKeys* original = OriginalKeys::find(type_);
  const bool rest_is_unread = rest_is_unread_ && OriginalKeys::find(outer_type_) != nullptr;
  for (const auto& [key, value] : json_.items()) {
    if (is_understood(key, value)) continue;
    const auto ignored = findings_->ignored.find(prefix_ + key);
    if (ignored != findings_->ignored.end()) {
      ignored->second = true;
    } else if (const auto other = json_.find(std::string(other_spelling(key)));
               other != json_.end() && read_.count(other.key()) != 0 && !other->is_null() &&
               *other != value) {
      findings_->unknown.emplace_back(
          prefix_ + key, fmt::format("{}, but {} is {}", value.dump(), other.key(), other->dump()));
    } else if (rest_is_unread || (original != nullptr && !original->reads(key))) {
      findings_->unread.push_back(prefix_ + key);
    } else {
      findings_->unknown.emplace_back(prefix_ + key, value.dump().substr(0, 60));
    }
  }
}

void Config::ignore(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) findings_->ignored[key] = false;
}

void Config::check_keys() const {
  const auto& unknown = findings_->unknown;
  if (unknown.size() == 1) {
    refuse(
        "{} is {}: this key is not understood and may change the results (--ignore-key {} says that it does "
        "not)",
        unknown.front().first, unknown.front().second, unknown.front().first);
  }
  if (!unknown.empty()) {
    std::string list;
    for (const auto& [key, value] : unknown)
      list += fmt::format("{}{} is {}", list.empty() ? "" : ", ", key, value);
    refuse(
        "{}: these keys are not understood and may change the results (--ignore-key KEY, once for each, says "
        "that "
        "they do not)",
        list);
  }
  for (const auto& [key, met] : findings_->ignored) {
    if (!met) refuse("--ignore-key {}: there is no such key, or it is understood and cannot be ignored", key);
  }
}

}  // namespace mote::convert
