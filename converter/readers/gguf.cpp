// SPDX-License-Identifier: Apache-2.0
//
// GGUF's metadata and tensor names translated to Hugging Face's, by the tables of gguf_families.h. A key or a
// tensor that no table has might change the results, and is refused by name.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "converter/error.h"
#include "converter/readers/bytes.h"
#include "converter/readers/gguf_families.h"
#include "converter/readers/gguf_keys.h"
#include "converter/readers/readers.h"

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
  for (const Family& family : kFamilies) {
    if (family.name == name) return family;
    known.append(known.empty() ? "" : ", ").append(family.name);
  }
  fail("{}: architecture '{}' is not read from GGUF; read are {}", where, shown(name), known);
}

/// Where the heads' width is not the usual one, and whether RoPE turns all of it.
void read_heads(GgufKeys& metadata, nlohmann::json& config, const std::string& where) {
  const uint32_t width = *metadata.size("embedding_length"), heads = *metadata.size("attention.head_count");
  const uint32_t head_dim = metadata.size("attention.key_length").value_or(heads == 0 ? 0 : width / heads);
  if (head_dim == 0) fail("{}: {} heads in a width of {}", where, heads, width);
  if (metadata.size("attention.value_length").value_or(head_dim) != head_dim) {
    fail("{}: attention.value_length differs from the keys' {}, which is not supported", where, head_dim);
  }
  const uint32_t rotary = metadata.size("rope.dimension_count").value_or(head_dim);
  config["head_dim"] = head_dim;
  if (!config.contains("num_key_value_heads")) config["num_key_value_heads"] = heads;
  if (rotary != head_dim) config["partial_rotary_factor"] = static_cast<double>(rotary) / head_dim;
}

/// rope.scaling.* as rope_scaling. A factor of 0 or 1 is none, and a factor without a type is linear.
void read_rope(GgufKeys& metadata, nlohmann::json& config, const std::string& where) {
  const double factor =
      metadata.number("rope.scaling.factor").value_or(metadata.number("rope.scale_linear").value_or(0));
  const std::string type = metadata.text("rope.scaling.type", "linear");
  const auto original = metadata.size("rope.scaling.original_context_length");
  const auto attention = metadata.number("rope.scaling.attn_factor");
  if (attention.value_or(1) != 1 && type != "yarn") {
    fail("{}: rope.scaling.attn_factor without rope.scaling.type yarn is not understood", where);
  }
  if (type == "none" || (type == "linear" && (factor == 0 || factor == 1))) return;
  nlohmann::json scaling = {{"rope_type", type}, {"factor", factor}};
  if (type == "yarn") {
    if (original) scaling["original_max_position_embeddings"] = *original;
    if (attention && *attention != 1) scaling["attention_factor"] = *attention * (1 + 0.1 * std::log(factor));
    if (const auto beta = metadata.number("rope.scaling.yarn_beta_fast")) scaling["beta_fast"] = *beta;
    if (const auto beta = metadata.number("rope.scaling.yarn_beta_slow")) scaling["beta_slow"] = *beta;
  } else if (type != "linear") {
    fail("{}: rope.scaling.type '{}' is not understood; understood are none, linear and yarn", where,
         shown(type));
  }
  config["rope_scaling"] = scaling;
}

/// What makes a BERT of it, and how its vectors are pooled.
void read_bert(const GgufFile& file, GgufKeys& metadata, nlohmann::json& config, const std::string& where) {
  const GgufValue* causal = metadata.find("attention.causal");
  const auto* flag = causal == nullptr ? nullptr : std::get_if<bool>(causal);
  if (flag == nullptr || *flag) fail("{}: bert.attention.causal is not false: this is no encoder", where);
  config["architectures"] = {"BertModel"};
  const auto types = file.tensors.find("token_types.weight");
  config["type_vocab_size"] = types == file.tensors.end() ? 0 : types->second.rows();
}

void read_keys(const Family& family, std::span<const KeyRule> rules, GgufKeys& metadata,
               nlohmann::json& config, const std::string& where) {
  for (const KeyRule& rule : rules) {
    const bool of_layers =
        !family.other_layer.empty() && rule.config == std::string_view("num_key_value_heads");
    if (of_layers) continue;  // read_layer_types
    if (metadata.find(rule.gguf) == nullptr) {
      if (rule.presence == Presence::required)
        fail("{}: no metadata key {}.{}", where, family.name, rule.gguf);
    } else if (rule.kind == KeyKind::size) {
      config[rule.config] = *metadata.size(rule.gguf);
    } else {
      config[rule.config] = *metadata.number(rule.gguf);
    }
  }
}

/// Which layers attend: those with heads of keys.
void read_layer_types(const Family& family, GgufKeys& metadata, nlohmann::json& config,
                      const std::string& where) {
  const uint32_t layers = config["num_hidden_layers"].get<uint32_t>();
  if (layers > kMaxGgufLayers) fail("{}: {}.block_count is {}", where, family.name, layers);
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

/// Granite's switch for RoPE, which is on where the file does not say.
bool has_rope(GgufKeys& metadata) {
  const GgufValue* value = metadata.find("rope.scaling.finetuned");
  const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(value);
  return flag == nullptr || *flag;
}

/// The scans, and the feed-forward that every token takes.
void read_granite_hybrid(const Family& family, const GgufFile& file, GgufKeys& metadata,
                         nlohmann::json& config, const std::string& where) {
  static constexpr KeyRule kKeys[] = {{"ssm.conv_kernel", "mamba_d_conv"},
                                      {"ssm.state_size", "mamba_d_state"},
                                      {"ssm.group_count", "mamba_n_groups"},
                                      {"ssm.time_step_rank", "mamba_n_heads"},
                                      {"ssm.inner_size", "mamba_d_head"}};
  read_keys(family, kKeys, metadata, config, where);
  const uint32_t inner = config["mamba_d_head"], heads = config["mamba_n_heads"],
                 width = config["hidden_size"];
  if (heads == 0 || inner % heads != 0 || width == 0 || inner % width != 0)
    fail("{}: {}.ssm.inner_size {} is no multiple of {} heads and of a width of {}", where, family.name,
         inner, heads, width);
  config["mamba_d_head"] = inner / heads;
  config["mamba_expand"] = inner / width;
  config["mamba_conv_bias"] = std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& tensor) {
    return tensor.first.ends_with(".ssm_conv1d.bias");
  });
  config["position_embedding_type"] = has_rope(metadata) ? "rope" : "nope";
  config["shared_intermediate_size"] = metadata.size("expert_shared_feed_forward_length")
                                           .value_or(config["intermediate_size"].get<uint32_t>());
  if (!config.contains("num_local_experts")) config["num_local_experts"] = 0;
}

/// The scores' scale, which the file does not say: by the width of the heads, but in the largest of each kind
/// by the width that a head would have of the model's.
void set_gemma_scale(nlohmann::json& config) {
  const bool second = config["model_type"].get<std::string>() == "gemma2";
  const uint32_t largest = second ? 46 : 62, heads = config["num_attention_heads"];
  const bool by_width = config["num_hidden_layers"].get<uint32_t>() == largest && heads != 0;
  config["query_pre_attn_scalar"] =
      by_width ? config["hidden_size"].get<uint32_t>() / heads : config["head_dim"].get<uint32_t>();
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

bool has_experts(const Family& family, GgufKeys& metadata) {
  return !family.experts.model_type.empty() && metadata.size("expert_count").value_or(0) != 0;
}

nlohmann::json make_config(const Family& family, const GgufFile& file, GgufKeys& metadata,
                           const std::string& where) {
  const std::string_view type = family.model_type.empty() ? family.name : family.model_type;
  nlohmann::json config = {{"model_type", type}};
  if (family.activation_key != nullptr) config[family.activation_key] = family.activation;
  read_keys(family, family.common_keys(), metadata, config, where);
  read_keys(family, family.keys, metadata, config, where);
  if (has_experts(family, metadata)) {
    config["model_type"] = family.experts.model_type;
    read_keys(family, family.experts.keys, metadata, config, where);
    if (family.experts.normalized) config["norm_topk_prob"] = true;
  }
  config["vocab_size"] = vocabulary(file, metadata);
  config["tie_word_embeddings"] = file.tensors.count("output.weight") == 0;
  // Null is none; a key that is left out would be the config class's.
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    const auto id = metadata.token(key);
    config[key] = id ? nlohmann::json(*id) : nlohmann::json();
  }
  if (family.name == "bert") read_bert(file, metadata, config, where);
  if (!family.other_layer.empty()) read_layer_types(family, metadata, config, where);
  if (family.name == "lfm2") config["block_auto_adjust_ff_dim"] = false;
  if (family.name == "granitehybrid") read_granite_hybrid(family, file, metadata, config, where);
  if (family.name == "granite" && !has_rope(metadata))
    fail("{}: granite.rope.scaling.finetuned is false: a granite without RoPE is not read", where);
  if (!family.has_rope) return config;

  read_heads(metadata, config, where);
  read_rope(metadata, config, where);
  if (family.name == "gemma2" || family.name == "gemma3") set_gemma_scale(config);
  // Mistral's window is the only thing that tells it from a llama; Mixtral has one or none.
  const auto window = family.name == "llama" ? metadata.size("attention.sliding_window") : std::nullopt;
  if (window && *window > 0) {
    if (config["model_type"] == "llama") config["model_type"] = "mistral";
    config["sliding_window"] = *window;
  }
  return config;
}

/// A name taken apart: "blk.3.attn_q.weight" is {"blk.{}.attn_q", "3", ".weight"}, "blk.3.ssm_a" {"blk.{}",
/// "3", ".ssm_a"}.
struct TensorName {
  std::string stem, layer, kind;
};

TensorName take_apart(const std::string& name, uint64_t layers) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, "", ""};
  TensorName result{name.substr(0, dot), "", name.substr(dot)};
  if (name.compare(0, 4, "blk.") != 0) return result;
  const size_t end = name.find('.', 4);
  if (end > dot) return result;
  uint32_t layer = 0;
  const auto parsed = std::from_chars(name.data() + 4, name.data() + end, layer);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + end || layer >= layers) return result;
  result.layer = std::to_string(layer);
  if (result.layer.size() == end - 4) result.stem.replace(4, end - 4, "{}");  // not "blk.03."
  return result;
}

/// Hugging Face's name, "" where the family has no such tensor.
std::string translated(const Family& family, bool has_experts, const TensorName& name) {
  const bool usual = name.kind == ".weight" || name.kind == ".bias";
  for (const std::span<const TensorRule> rules :
       {has_experts ? family.experts.tensors : std::span<const TensorRule>(), family.tensors,
        family.common_tensors(), family.of_other_layers}) {
    for (const TensorRule& rule : rules) {
      if (rule.whole ? name.stem + name.kind == rule.gguf : usual && name.stem == rule.gguf)
        return fmt::format(fmt::runtime(rule.name), name.layer) + (rule.whole ? "" : name.kind);
    }
  }
  return "";
}

/// The matrices of a stacked tensor, each under its own name.
void add_experts(Source& source, const std::string& pattern, const std::string& gguf_name,
                 const SourceTensor& stacked, const std::string& where) {
  if (stacked.shape.size() != 3 || stacked.shape[0] == 0 || stacked.shape[0] > kMaxExperts)
    fail("{}: tensor {} is no matrix for each of at most {} experts", where, shown(gguf_name), kMaxExperts);
  SourceTensor one = stacked;
  one.shape.erase(one.shape.begin());
  one.bytes = stacked.bytes / stacked.shape[0];
  for (uint64_t expert = 0; expert < stacked.shape[0]; ++expert, one.data += one.bytes) {
    std::string name = pattern;
    source.tensors[name.replace(name.find("[]"), 2, std::to_string(expert))] = one;
  }
}

void add_tensors(Source& source, const Family& family, const GgufFile& file, const std::string& where) {
  const nlohmann::json& config = *source.config;
  const auto heads = config.value("num_attention_heads", uint32_t{1});
  const auto kv_heads = config.value("num_key_value_heads", heads);
  const uint64_t layers = config.value("num_hidden_layers", config.value("n_layer", uint64_t{0}));
  for (const auto& [gguf_name, tensor] : file.tensors) {
    const TensorName name = take_apart(gguf_name, layers);
    if (name.stem == "blk.{}.attn_rot_embd") continue;  // a table that nothing reads
    const std::string translation = translated(family, config.contains("num_experts_per_tok"), name);
    if (translation.empty()) {
      fail("{}: tensor {} has no place in a {} of {} layers", where, shown(gguf_name), family.name, layers);
    }
    if (translation.find("[]") != std::string::npos) {
      add_experts(source, translation, gguf_name, tensor, where);
      continue;
    }
    SourceTensor& added = source.tensors[translation] = tensor;
    // Vectors of a scan, which the file has as matrices.
    if (translation.ends_with(".mamba.A") || translation.ends_with(".mamba.D") ||
        translation.ends_with(".mamba.norm.weight"))
      added.shape = {added.rows() * added.cols()};
    // A matrix of one row, which the file has as a vector.
    if (name.stem == "blk.{}.ffn_gate_inp_shexp" && added.shape.size() == 1)
      added.shape.insert(added.shape.begin(), 1);
    const bool is_query = name.stem == "blk.{}.attn_q", is_key = name.stem == "blk.{}.attn_k";
    if (!family.interleaved || !(is_query || is_key)) continue;
    added.interleaved_heads = is_query ? heads : kv_heads;
    const uint64_t outputs = added.shape.size() < 2 ? added.cols() : added.rows();
    if (added.interleaved_heads == 0 || outputs % (uint64_t{2} * added.interleaved_heads) != 0) {
      fail("{}: tensor {} of {} rows does not divide into {} heads", where, shown(gguf_name), outputs,
           added.interleaved_heads);
    }
  }
}

}  // namespace

Source read_gguf(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const std::string where = path.string();
  const GgufFile file = parse_gguf(bytes, where);
  if (const uint64_t parts = split_count(file); parts > 1) fail("{} is one of {} parts", where, parts);
  return read_gguf(file, path);
}

Source read_gguf(const GgufFile& file, const std::filesystem::path& path) {
  const std::string where = path.string();
  const Family& family = family_of(file, where);
  GgufKeys metadata(file, where, family.name);
  Source source;
  source.format = "gguf";
  const GgufValue* name = metadata.find_exact("general.name");
  const auto* text = name == nullptr ? nullptr : std::get_if<std::string_view>(name);
  source.name = text == nullptr || text->empty() ? path.stem().string() : std::string(*text);
  source.config = std::make_shared<const nlohmann::json>(make_config(family, file, metadata, where));
  if (family.name == "bert") source.pooling = read_pooling(metadata, where);
  metadata.finish();
  // The end of a text, of a turn and of a message, of which chat models use one or the other.
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    if (const auto id = metadata.token(key)) source.stop_ids.push_back(*id);
  }
  if (const GgufValue* chat = metadata.find_exact("tokenizer.chat_template")) {
    if (const auto* jinja = std::get_if<std::string_view>(chat)) source.chat_template = *jinja;
  }
  add_tensors(source, family, file, where);
  return source;
}

}  // namespace mote::convert
