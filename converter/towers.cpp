// SPDX-License-Identifier: Apache-2.0
#include "converter/towers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"
#include "host/base/json_file.h"

namespace mote::convert {
namespace {

using nlohmann::json;

struct Parent {
  std::string_view type;       // model_type of the whole
  std::string_view text_type;  // of its texts' config that names none
  bool ties = false;           // the head, where neither config says it
};
constexpr Parent kParents[] = {
    {"gemma3", "gemma3_text", true},
    {"gemma3n", "gemma3n_text", true},
    {"gemma4", "gemma4_text", true},
    {"internvl", "qwen2", true},
    {"lfm2_vl", "lfm2", true},
    {"lfm2-vl", "lfm2", true},
    {"llava", "llama"},
    {"llava_next", "llama"},
    {"llava_onevision", "qwen2"},
    {"mistral3", "mistral", true},
    {"qwen2_5_vl", "qwen2_5_vl_text"},
    {"qwen2_audio", "qwen2"},
    {"qwen2_vl", "qwen2_vl_text"},
};

/// Classes of texts in larger models whose computation is another class's, with what theirs has for absent
/// keys.
struct Alias {
  std::string_view type, same_as;
  const char* defaults;  // JSON
};
constexpr const char* kQwenVision =
    R"({"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,"num_hidden_layers":80,)"
    R"("num_attention_heads":64,"num_key_value_heads":8,"rms_norm_eps":1e-5,"max_window_layers":80,)"
    R"("rope_theta":1000000.0})";
constexpr Alias kAliases[] = {{"qwen2_vl_text", "qwen2", kQwenVision},
                              {"qwen2_5_vl_text", "qwen2", kQwenVision},
                              {"qwen3_vl_text", "qwen3",
                               R"({"intermediate_size":22016,"max_position_embeddings":128000,)"
                               R"("rope_theta":500000.0})"}};

/// Positions of texts are the same in all directions of RoPE.
void drop_directions(json& keys) {
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!keys.contains(key) || !keys[key].is_object()) continue;
    json& rope = keys[key];
    for (const char* direction : {"mrope_section", "mrope_interleaved"}) rope.erase(direction);
    for (const char* type : {"type", "rope_type"}) {
      if (rope.contains(type) && rope[type] == "mrope") rope[type] = "default";
    }
  }
}

void take_alias(json& text) {
  for (const Alias& alias : kAliases) {
    if (text["model_type"] != alias.type) continue;
    text["model_type"] = alias.same_as;
    const json defaults = json::parse(alias.defaults);
    for (const auto& [key, value] : defaults.items()) {
      const bool has_rope = text.contains("rope_parameters") && text["rope_parameters"].contains(key);
      if (!text.contains(key) && !has_rope) text[key] = value;
    }
    drop_directions(text);
  }
}

/// The texts' own object, or of older files what stands beside the other parts' objects.
json text_config(const json& whole, const Parent& parent, const JsonFile& file) {
  json text = whole;
  const auto own = whole.find("text_config");
  if (own != whole.end() && !own->is_null()) {
    if (!own->is_object()) file.refuse_value("text_config", &*own, "an object");
    text = *own;
    for (const char* shared : {"architectures", "id2label", "problem_type", "quantization_config"})
      if (whole.contains(shared) && !text.contains(shared)) text[shared] = whole[shared];
  } else {
    for (const char* other : {"text_config", "vision_config", "audio_config"}) text.erase(other);
    text.erase("model_type");
  }
  if (!text.contains("model_type") || text["model_type"] == parent.type)
    text["model_type"] = parent.text_type;
  return text;
}

/// Says whether a name is of a part that counts layers; a prefix ends before such a part.
bool is_layer_part(std::string_view name) {
  return name == "layers" || name == "layer" || name == "h" || name == "blocks" || name == "block";
}

/// Beginnings of a name that end with a point, the shortest first.
std::vector<std::string> prefixes_of(const std::string& name) {
  constexpr size_t kMost = 5;
  std::vector<std::string> prefixes;
  size_t begin = 0;
  for (size_t at = name.find('.'); at != std::string::npos && prefixes.size() < kMost;
       begin = at + 1, at = name.find('.', begin)) {
    if (is_layer_part(std::string_view(name).substr(begin, at - begin))) break;
    prefixes.push_back(name.substr(0, at + 1));
  }
  return prefixes;
}

/// Other parts of a larger model.
bool is_other_part(std::string_view name) {
  constexpr std::string_view kParts[] = {"vision_tower.",          "vision_model.", "visual.",
                                         "multi_modal_projector.", "audio_tower.",  "embed_vision.",
                                         "embed_audio.",           "mtp.",          "image_newline"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return name.starts_with(part); });
}

using Tensors = std::map<std::string, SourceTensor>;

/// The tensors below `prefix` below `base`, and others without those parts of the prefix that they have too.
Tensors without_prefix(const Tensors& tensors, const std::string& prefix, const std::string& base) {
  std::vector<std::string> parts = prefixes_of(prefix);
  if (!parts.empty() && parts.back() == prefix) parts.pop_back();
  Tensors result;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) {
      result[base + name.substr(prefix.size())] = tensor;
      continue;
    }
    std::string rest = name;
    for (const std::string& part : parts) {
      if (name.starts_with(part)) rest = name.substr(part.size());
    }
    if (!is_other_part(rest)) result.try_emplace(rest, tensor);
  }
  return result;
}

constexpr std::string_view kTableEnd = "embed_tokens.weight";

/// Returns what stands before "embed_tokens." in names of which one may be the tower's.
std::vector<std::string> tower_prefixes(const Source& source) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : source.tensors) {
    if (name.ends_with(kTableEnd)) found.push_back(name.substr(0, name.size() - kTableEnd.size()));
  }
  if (found.size() > 1) {
    std::erase_if(found, [](const std::string& prefix) {
      return prefix.find("language_model.") == std::string::npos &&
             prefix.find("text_model.") == std::string::npos;
    });
  }
  return found;
}

/// Returns the text before "embed_tokens." in the tower's names.
std::string tower_prefix(const Source& source, const JsonFile& file) {
  const std::vector<std::string> found = tower_prefixes(source);
  if (found.size() != 1)
    file.refuse("the weights of its texts' model are not found: of names that end in {}, {} would do",
                kTableEnd, found.size());
  return found.front();
}

/// Only the tower's tensors and its heads'.
void keep_tower(Source& source, const std::string& prefix) {
  Tensors all = without_prefix(source.tensors, prefix, "model.");
  std::erase_if(all, [](const auto& entry) {
    const std::string& name = entry.first;
    return !name.starts_with("model.") && !name.starts_with("lm_head.") && !name.starts_with("score.") &&
           !name.starts_with("classifier.");
  });
  // Drops the other parts of a whole whose texts' weights share their prefix with others' ("model.layers."
  // beside "model.visual.").
  std::erase_if(all, [](const auto& entry) {
    return entry.first.starts_with("model.") && is_other_part(std::string_view(entry.first).substr(6));
  });
  source.tensors = std::move(all);
}

/// The prefixes that at least half of the tensors have, the shortest first.
std::vector<std::string> common_prefixes(const Tensors& tensors) {
  constexpr size_t kMost = 16;  // so that the work grows with the number of tensors, not with its square
  std::map<std::string, size_t> counts;
  for (const auto& [name, tensor] : tensors) {
    for (const std::string& prefix : prefixes_of(name)) ++counts[prefix];
  }
  std::vector<std::string> prefixes;
  for (const auto& [prefix, count] : counts) {
    if (2 * count >= tensors.size()) prefixes.push_back(prefix);
  }
  std::stable_sort(prefixes.begin(), prefixes.end(),
                   [&](const std::string& a, const std::string& b) { return counts.at(a) > counts.at(b); });
  prefixes.resize(std::min(prefixes.size(), kMost));
  std::stable_sort(prefixes.begin(), prefixes.end(), [](const std::string& a, const std::string& b) {
    return std::count(a.begin(), a.end(), '.') < std::count(b.begin(), b.end(), '.');
  });
  return prefixes;
}

/// Returns the larger model that the config is of, as far as its texts' model is known.
std::optional<Parent> parent_of(const Source& source) {
  const json& whole = *source.config;
  for (const Parent& one : kParents) {
    if (whole["model_type"] == one.type) return one;
  }
  if (!whole["model_type"].is_string()) return std::nullopt;
  const std::string& type = whole["model_type"].get_ref<const std::string&>();
  const auto own = whole.find("text_config");
  if (is_architecture(type) || type == "paligemma" || own == whole.end() || !own->is_object() ||
      !own->contains("model_type") || !(*own)["model_type"].is_string())
    return std::nullopt;
  const std::string& text = (*own)["model_type"].get_ref<const std::string&>();
  const bool known = is_architecture(text) || std::any_of(std::begin(kAliases), std::end(kAliases),
                                                          [&](const Alias& one) { return one.type == text; });
  if (!known || tower_prefixes(source).size() != 1) return std::nullopt;
  const bool has_head = std::any_of(source.tensors.begin(), source.tensors.end(), [](const auto& entry) {
    return entry.first.ends_with("lm_head.weight");
  });
  return Parent{type, text, !has_head};
}

}  // namespace

void enter_text_tower(Source& source) {
  const json& whole = *source.config;
  if (source.format != "hf" || !whole.contains("model_type")) return;
  const std::optional<Parent> parent = parent_of(source);
  json text;
  if (!parent) {
    text = whole;
    take_alias(text);
    source.config = std::make_shared<const json>(std::move(text));
    return;
  }
  const JsonFile file(source.config_path.string());
  if (!source.tower.empty() && source.tower != "text")
    file.refuse("--tower {}: of model_type {} the model of texts alone is supported", source.tower,
                parent->type);
  text = text_config(whole, *parent, file);
  take_alias(text);
  keep_tower(source, tower_prefix(source, file));
  // Which of the two configs said it changed with the versions.
  const json own = text.value("tie_word_embeddings", json()),
             given = whole.value("tie_word_embeddings", json());
  text["tie_word_embeddings"] =
      given == true || own == true || (given.is_null() && own.is_null() && parent->ties);
  source.notes.push_back(
      fmt::format("of {} the model of texts, {}, which its pictures or sounds are no part of", parent->type,
                  text["model_type"].dump()));
  source.config = std::make_shared<const json>(std::move(text));
  source.tower.clear();
}

std::string unwrap_tensors(Source& source, const std::function<bool()>& fits) {
  const Tensors all = source.tensors;
  for (const std::string& prefix : common_prefixes(all)) {
    for (const char* base : {"", "model."}) {
      if (prefix == base) continue;
      source.tensors = without_prefix(all, prefix, base);
      if (fits()) return prefix;
    }
  }
  source.tensors = all;
  return "";
}

}  // namespace mote::convert
