// SPDX-License-Identifier: Apache-2.0
#include "converter/missing_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace mote::convert {
namespace {

using nlohmann::json;

/// Keys that say how many of something there are. `side` is a part of the names of the tensors that a key is
/// of, where the model has two kinds.
struct CountKey {
  const char* key;
  const char* thing;
  const char* side;
};
constexpr CountKey kCountKeys[] = {
    {"encoder_layers", "layer", "encoder."},
    {"num_encoder_layers", "layer", "encoder."},
    {"decoder_layers", "layer", "decoder."},
    {"num_decoder_layers", "layer", "decoder."},
    {"num_hidden_layers", "layer", ""},
    {"num_layers", "layer", ""},
    {"n_layer", "layer", ""},
    {"n_layers", "layer", ""},
    {"depth", "layer", ""},
    {"num_local_experts", "expert", ""},
    {"num_experts", "expert", ""},
    {"n_routed_experts", "expert", ""},
};

/// The config's objects with the beginning of their keys in messages: it and those directly inside of it.
std::vector<std::pair<std::string, const json*>> objects_of(const json& config) {
  std::vector<std::pair<std::string, const json*>> found = {{"", &config}};
  if (!config.is_object()) return {};
  for (const auto& [key, value] : config.items()) {
    if (value.is_object()) found.emplace_back(key + ".", &value);
  }
  return found;
}

std::string place_of(const Source& source) {
  return source.config_path.empty() ? "the file's config" : source.config_path.filename().string();
}

/// A whole number in a name, "model.layers.11.mlp": what stands before it, and the number.
struct Numbered {
  std::string before;  // "model.layers."
  uint64_t number;
};

std::vector<Numbered> numbers_of(const std::string& name) {
  std::vector<Numbered> found;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    uint64_t number = 0;
    const auto [last, error] = std::from_chars(name.data() + begin, name.data() + end, number);
    if (error == std::errc() && last == name.data() + end) found.push_back({name.substr(0, begin), number});
    begin = end + 1;
  }
  return found;
}

/// Says whether the source has other tensors of this number.
bool has_some(const Source& source, const Numbered& one) {
  const std::string start = fmt::format("{}{}.", one.before, one.number);
  const auto found = source.tensors.lower_bound(start);
  return found != source.tensors.end() && found->first.starts_with(start);
}

std::string asked_by_count(const Source& source, const std::string& name) {
  for (const Numbered& one : numbers_of(name)) {
    if (has_some(source, one)) continue;  // the number is not the cause
    const bool experts = one.before.find("expert") != std::string::npos;
    for (const CountKey& key : kCountKeys) {
      if ((std::string_view(key.thing) == "expert") != experts) continue;
      if (one.before.find(key.side) == std::string::npos) continue;
      for (const auto& [prefix, object] : objects_of(*source.config)) {
        const auto value = object->find(key.key);
        if (value == object->end() || !value->is_number_unsigned() || value->get<uint64_t>() <= one.number)
          continue;
        return fmt::format(": {}{} = {} in {} asks for {} {}, of which there are no weights", prefix, key.key,
                           value->get<uint64_t>(), place_of(source), key.thing, one.number);
      }
    }
  }
  return "";
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// Flags named after biases that are true, of the tensor's kind of layer.
std::string asked_by_flag(const Source& source, const std::string& name) {
  if (!name.ends_with(".bias")) return "";
  const bool attention = has_any(name, {"attn", "attention"});
  const bool feed_forward = has_any(name, {"mlp", "ffn", "feed_forward"});
  std::string keys;
  for (const auto& [prefix, object] : objects_of(*source.config)) {
    for (const auto& [key, value] : object->items()) {
      if (!value.is_boolean() || !value.get<bool>() || key.find("bias") == std::string::npos) continue;
      const bool of_attention = has_any(key, {"attn", "attention", "qkv"});
      const bool of_feed_forward = has_any(key, {"mlp", "ffn", "ff_", "feed_forward"});
      if ((of_attention && !attention) || (of_feed_forward && !feed_forward)) continue;
      keys += fmt::format("{}{}{} = true", keys.empty() ? "" : " or ", prefix, key);
    }
  }
  return keys.empty() ? "" : fmt::format(": {} in {} asks for it", keys, place_of(source));
}

std::string asked_by_head(const Source& source, const std::string& name) {
  if (!name.ends_with("lm_head.weight") && !name.ends_with("embed_out.weight")) return "";
  for (const auto& [prefix, object] : objects_of(*source.config)) {
    const auto tied = object->find("tie_word_embeddings");
    if (tied != object->end() && tied->is_boolean() && !tied->get<bool>()) {
      return fmt::format(": {}tie_word_embeddings = false in {} asks for a head of its own", prefix,
                         place_of(source));
    }
  }
  return "";
}

}  // namespace

std::string asked_by(const Source& source, const std::string& name) {
  if (source.config == nullptr) return "";
  for (const auto& ask : {asked_by_count, asked_by_flag, asked_by_head}) {
    if (std::string asked = ask(source, name); !asked.empty()) return asked;
  }
  return "";
}

}  // namespace mote::convert
