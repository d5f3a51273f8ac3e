// SPDX-License-Identifier: Apache-2.0
//
// GGUF's metadata translated to the keys of config.json, by the tables of gguf_families.h.
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "converter/readers/gguf_families.h"
#include "converter/readers/gguf_keys.h"
#include "converter/readers/gguf_own_keys.h"
#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMaxGgufLayers = 1u << 12;

const Family& family_of(const GgufFile& file, const std::string& where) {
  const auto text = [&](const char* key) {
    const auto found = file.metadata.find(key);
    const auto* value =
        found == file.metadata.end() ? nullptr : std::get_if<std::string_view>(&found->second);
    return value == nullptr ? std::string_view() : *value;
  };
  if (const auto type = text("general.type"); !type.empty() && type != "model") {
    fail("{}: the file holds a '{}', not a model", where, shown(type));
  }
  const std::string_view name = text("general.architecture");
  if (name.empty()) fail("{}: no general.architecture: not a model", where);
  std::string known;
  for (const Family& family : gguf_families()) {
    if (family.name == name) return family;
    known.append(known.empty() ? "" : ", ").append(family.name);
  }
  fail("{}: architecture '{}' is not read from GGUF; read are {}", where, shown(name), known);
}

/// Reads where the heads' width is not the usual one, and whether RoPE turns all of it.
void read_heads(const FamilyInput& input) {
  GgufKeys& metadata = input.metadata;
  nlohmann::json& config = input.config;
  const uint32_t width = *metadata.size("embedding_length"), heads = *metadata.size("attention.head_count");
  const uint32_t head_dim = metadata.size("attention.key_length").value_or(heads == 0 ? 0 : width / heads);
  if (head_dim == 0) fail("{}: {} heads in a width of {}", input.where, heads, width);
  require_gguf_value_length(input, head_dim);
  const uint32_t rotary = metadata.size("rope.dimension_count").value_or(head_dim);
  config["head_dim"] = head_dim;
  if (!config.contains("num_key_value_heads")) config["num_key_value_heads"] = heads;
  if (rotary != head_dim) config["partial_rotary_factor"] = static_cast<double>(rotary) / head_dim;
}

/// Which layers attend: those with heads of keys.
void read_layer_types(const Family& family, GgufKeys& metadata, nlohmann::json& config,
                      const std::string& where) {
  const uint32_t layers = config["num_hidden_layers"].get<uint32_t>();
  config["layer_types"] = nlohmann::json::array();
  uint32_t kv_heads = 0;
  for (const uint32_t heads : metadata.sizes("attention.head_count_kv", layers)) {
    config["layer_types"].push_back(heads == 0 ? family.other_layer : family.attention_layer);
    if (heads == 0) continue;
    if (kv_heads != 0 && heads != kv_heads)
      fail("{}: layers have {} and {} heads of keys", where, kv_heads, heads);
    kv_heads = heads;
  }
  if (kv_heads == 0) fail("{}: no layer has attention", where);
  config["num_key_value_heads"] = kv_heads;
}

std::optional<SentencePooling> read_pooling(GgufKeys& metadata, const std::string& where) {
  const auto type = metadata.size("pooling_type");
  if (!type || *type == 0) return std::nullopt;
  constexpr PoolKind kKinds[] = {PoolKind::mean, PoolKind::first, PoolKind::last};  // 1, 2, 3
  if (*type > std::size(kKinds))
    fail("{}: pooling_type {} is not read; 0 (none), 1 (mean), 2 (cls) and 3 (last) are", where, *type);
  return SentencePooling{kKinds[*type - 1], false};
}

uint64_t vocabulary(const GgufFile& file, GgufKeys& metadata) {
  const auto declared = metadata.size("vocab_size");
  const auto embedding = file.tensors.find("token_embd.weight");
  if (embedding != file.tensors.end()) return embedding->second.rows();
  if (declared) return *declared;
  const GgufValue* tokens = metadata.find_exact("tokenizer.ggml.tokens");
  const auto* array = tokens == nullptr ? nullptr : std::get_if<GgufArray>(tokens);
  return array == nullptr ? 0 : array->count;
}

/// Layers that predict further tokens stand behind the others and are counted with them.
void leave_out_next_tokens(GgufKeys& metadata, nlohmann::json& config, const std::string& where) {
  const uint32_t more = metadata.size("nextn_predict_layers").value_or(0);
  if (more == 0) return;
  const uint32_t layers = config.value("num_hidden_layers", 0u);
  if (more >= layers) fail("{}: {} of {} layers predict further tokens", where, more, layers);
  config["num_hidden_layers"] = layers - more;
}

bool has_experts(const Family& family, GgufKeys& metadata) {
  return !family.experts.model_type.empty() && metadata.size("expert_count").value_or(0) != 0;
}

/// The keys of rope.*, whose scale LongRoPE has from tensors.
void read_positions(const FamilyInput& input) {
  read_heads(input);
  if (input.file.tensors.count("rope_factors_long.weight") == 0) read_gguf_rope(input);
}

nlohmann::json make_config(const Family& family, const GgufFile& file, GgufKeys& metadata,
                           const std::string& where) {
  const std::string_view type = family.model_type.empty() ? family.name : family.model_type;
  nlohmann::json config = {{"model_type", type}};
  const FamilyInput input{family, file, metadata, config, where};
  if (family.activation_key != nullptr) config[family.activation_key] = family.activation;
  for (const char* key : {"block_count", "decoder_block_count"}) {
    if (const auto layers = metadata.size(key); layers.value_or(0) > kMaxGgufLayers)
      fail("{}: {}.{} is {}, at most {} are read", where, family.name, key, *layers, kMaxGgufLayers);
  }
  read_gguf_keys(input, family.common_keys());
  read_gguf_keys(input, family.keys);
  leave_out_next_tokens(metadata, config, where);
  if (has_experts(family, metadata)) {
    config["model_type"] = family.experts.model_type;
    read_gguf_keys(input, family.experts.keys);
    if (family.experts.normalized) config["norm_topk_prob"] = true;
  }
  config["vocab_size"] = vocabulary(file, metadata);
  config["tie_word_embeddings"] = file.tensors.count("output.weight") == 0;
  // Null is none; a key that is left out would be the config class's.
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    const auto id = metadata.token(key);
    config[key] = id ? nlohmann::json(*id) : nlohmann::json();
  }
  if (!family.other_layer.empty()) read_layer_types(family, metadata, config, where);
  if (family.has_rope) read_positions(input);
  if (family.read_own != nullptr) family.read_own(input);
  return config;
}

}  // namespace

void read_gguf_keys(const FamilyInput& input, std::span<const KeyRule> rules) {
  const Family& family = input.family;
  for (const KeyRule& rule : rules) {
    const bool of_layers =
        !family.other_layer.empty() && rule.config == std::string_view("num_key_value_heads");
    if (of_layers) continue;  // read_layer_types
    if (input.metadata.find(rule.gguf) == nullptr) {
      if (rule.presence == Presence::required)
        fail("{}: no metadata key {}.{}", input.where, family.name, rule.gguf);
    } else if (rule.kind == KeyKind::size) {
      input.config[rule.config] = *input.metadata.size(rule.gguf);
    } else {
      input.config[rule.config] = *input.metadata.number(rule.gguf);
    }
  }
}

/// A factor of 0 or 1 is none, and a factor without a type is linear.
void read_gguf_rope(const FamilyInput& input) {
  GgufKeys& metadata = input.metadata;
  const double factor =
      metadata.number("rope.scaling.factor").value_or(metadata.number("rope.scale_linear").value_or(0));
  const std::string type = metadata.text("rope.scaling.type", "linear");
  const auto original = metadata.size("rope.scaling.original_context_length");
  const auto attention = metadata.number("rope.scaling.attn_factor");
  if (attention.value_or(1) != 1 && type != "yarn") {
    fail("{}: rope.scaling.attn_factor without rope.scaling.type yarn is not understood", input.where);
  }
  if (type == "none" || (type == "linear" && (factor == 0 || factor == 1))) return;
  nlohmann::json scaling = {{"rope_type", type}, {"factor", factor}};
  if (type == "yarn") {
    if (original) scaling["original_max_position_embeddings"] = *original;
    if (attention && *attention != 1) scaling["attention_factor"] = *attention * (1 + 0.1 * std::log(factor));
    // The config's own, which llama.cpp does not read.
    if (const auto whole = metadata.number("rope.scaling.yarn_attn_factor"))
      scaling["attention_factor"] = *whole;
    if (const auto beta = metadata.number("rope.scaling.yarn_beta_fast")) scaling["beta_fast"] = *beta;
    if (const auto beta = metadata.number("rope.scaling.yarn_beta_slow")) scaling["beta_slow"] = *beta;
  } else if (type != "linear") {
    fail("{}: rope.scaling.type '{}' is not understood; understood are none, linear and yarn", input.where,
         shown(type));
  }
  input.config["rope_scaling"] = scaling;
}

Source read_gguf(std::span<const std::byte> bytes, const std::filesystem::path& path,
                 const std::vector<std::string>& ignored) {
  const std::string where = path.string();
  const GgufFile file = parse_gguf(bytes, where);
  if (const uint64_t parts = split_count(file); parts > 1) fail("{} is one of {} parts", where, parts);
  return read_gguf(file, path, ignored);
}

Source read_gguf(const GgufFile& file, const std::filesystem::path& path,
                 const std::vector<std::string>& ignored) {
  const std::string where = path.string();
  const Family& family = family_of(file, where);
  GgufKeys metadata(file, where, family.name);
  Source source;
  source.format = "gguf";
  source.ignored_keys = ignored;
  const GgufValue* name = metadata.find_exact("general.name");
  const auto* text = name == nullptr ? nullptr : std::get_if<std::string_view>(name);
  source.name = text == nullptr || text->empty() ? path.stem().string() : std::string(*text);
  source.config = std::make_shared<const nlohmann::json>(make_config(family, file, metadata, where));
  source.pooling = read_pooling(metadata, where);
  metadata.finish(source);
  // The end of a text, of a turn and of a message, of which chat models use one or the other.
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    if (const auto id = metadata.token(key)) source.stop_ids.push_back(*id);
  }
  if (const GgufValue* chat = metadata.find_exact("tokenizer.chat_template")) {
    if (const auto* jinja = std::get_if<std::string_view>(chat)) source.chat_template = *jinja;
  }
  add_gguf_tensors(source, family, file, where);
  return source;
}

}  // namespace mote::convert
