// SPDX-License-Identifier: Apache-2.0
#include "converter/published_code.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/base/error.h"
#include "host/base/json_file.h"

namespace mote::convert {
namespace {

using nlohmann::json;

/// A config whose keys are taken out, checked or renamed.
class PublishedKeys {
 public:
  PublishedKeys(json& keys, std::string where) : keys_(keys), file_(std::move(where)) {}

  /// `now` gets the value of `then`. Where both are there, they have to agree.
  void rename(const char* then, const char* now) {
    const json value = take(then);
    if (value.is_null()) return;
    if (keys_.contains(now) && !keys_[now].is_null() && keys_[now] != value)
      file_.refuse("{} is {}, but {} is {}", then, value.dump(), now, keys_[now].dump());
    keys_[now] = value;
  }
  /// Refuses the key unless its value, or `absent` where it has none, is `expected`.
  void require(const char* key, const json& absent, const json& expected) {
    const json value = take(key);
    const json& meant = value.is_null() ? absent : value;
    if (meant != expected)
      file_.refuse("{} is {}, which is not supported; {} is", key, meant.dump(), expected.dump());
  }
  /// Keys that change nothing of what the model computes.
  void drop(std::initializer_list<const char*> names) {
    for (const char* name : names) keys_.erase(name);
  }
  void set_default(const char* key, const json& value) {
    if (!keys_.contains(key)) keys_[key] = value;
  }
  /// The value, which is no key any more; null: there was none.
  json take(const char* key) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return nullptr;
    json value = *found;
    keys_.erase(found);
    return value;
  }
  /// A size that is there.
  uint64_t size(const char* key) const { return file_.size(keys_.at(key), key, kMostSize); }
  uint64_t take_size(const char* key, uint64_t absent) {
    const json value = take(key);
    return value.is_null() ? absent : file_.size(value, key, kMostSize);
  }
  json& keys() { return keys_; }
  const JsonFile& file() const { return file_; }

 private:
  static constexpr uint64_t kMostSize = 1u << 24;

  json& keys_;
  JsonFile file_;
};

void take_gated_activation(PublishedKeys& keys) {
  const json named = keys.take("activation_function");
  const bool silu = named == json("swiglu");
  if (!silu && named != json("geglu"))
    keys.file().refuse_value("activation_function", &named, "swiglu or geglu, others are not supported");
  keys.keys()["activation_of_gate"] = silu ? "silu" : "gelu";
  keys.rename("activation_of_gate", "hidden_act");
}

/// NomicBertConfig, a GPT2Config with more keys.
void take_nomic_bert(PublishedKeys& keys, Source& source) {
  json& all = keys.keys();
  if (!all.contains("n_embd")) return;
  if (all.value("n_inner", json()).is_null()) all["n_inner"] = 4 * keys.size("n_embd");
  const std::pair<const char*, const char*> names[] = {{"n_embd", "hidden_size"},
                                                       {"n_layer", "num_hidden_layers"},
                                                       {"n_head", "num_attention_heads"},
                                                       {"n_inner", "intermediate_size"},
                                                       {"layer_norm_epsilon", "layer_norm_eps"}};
  for (const auto& [then, now] : names) keys.rename(then, now);
  keys.set_default("layer_norm_eps", 1e-5);
  take_gated_activation(keys);
  for (const char* key : {"prenorm", "parallel_block", "causal", "use_rms_norm", "rotary_emb_interleaved",
                          "scale_attn_by_inverse_layer_idx"})
    keys.require(key, false, false);
  for (const char* key : {"qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias"}) keys.require(key, true, false);
  keys.require("scale_attn_weights", true, true);
  keys.require("rotary_emb_fraction", 0.0, 1.0);
  keys.require("rotary_emb_scale_base", nullptr, nullptr);
  keys.require("num_experts", 0, 0);
  if (!all.contains("rope_parameters") || all["rope_parameters"].is_null())
    keys.set_default("rotary_emb_base", 1000);
  keys.rename("rotary_emb_base", "rope_theta");
  const uint64_t trained = keys.take_size("max_trained_positions", 2048);
  const uint64_t positions =
      std::max(keys.take_size("n_positions", 1024), keys.take_size("max_position_embeddings", 0));
  const bool scales = !all.contains("rotary_scaling_factor") || !all["rotary_scaling_factor"].is_null();
  keys.drop({"rotary_scaling_factor"});
  all["max_position_embeddings"] = scales ? std::min(trained, positions) : positions;
  if (scales && trained < positions)
    source.notes.push_back(fmt::format(
        "the context is max_trained_positions, {}: the original scales RoPE for longer texts", trained));
  const uint64_t multiple = std::max<uint64_t>(1, keys.take_size("pad_vocab_size_multiple", 1));
  const uint64_t vocab = keys.take_size("vocab_size", 50257);
  all["vocab_size"] = (vocab + multiple - 1) / multiple * multiple;
  keys.drop({"dense_seq_output", "expert_choice_router", "ffn_div", "fused_bias_fc", "fused_dropout_add_ln",
             "moe_every_n_layers", "moe_impl", "moe_normalize_expert_weights", "moe_resid_pdrop", "moe_top_k",
             "num_shared_experts", "parallel_block_tied_norm", "router_aux_loss_coef", "use_flash_attn",
             "use_xentropy"});
}

/// NewConfig, also under the model_type of the class that transformers made of it.
void take_gte(PublishedKeys& keys, Source&) {
  json& all = keys.keys();
  const bool is_new = all["model_type"] == json("new");
  if (!is_new && !all.contains("position_embedding_type")) return;
  if (is_new) {
    keys.set_default("vocab_size", 30528);
    keys.set_default("max_position_embeddings", 2048);
    if (!all.contains("rope_parameters")) keys.set_default("rope_theta", 10000.0);
  }
  all["model_type"] = "gte";
  keys.require("position_embedding_type", "rope", "rope");
  keys.require("layer_norm_type", "layer_norm", "layer_norm");
  keys.require("pack_qkv", true, true);
  for (const char* key : {"logn_attention_scale", "logn_attention_clip1"}) keys.require(key, false, false);
  keys.drop({"unpad_inputs", "use_memory_efficient_attention"});
}

/// Matrices with low-rank adapters for tasks beside them, as torch's parametrizations name them, are the
/// original ones where no task is asked for.
void take_unadapted(Source& source) {
  constexpr std::string_view kParts = ".parametrizations.", kOriginal = ".original";
  std::map<std::string, SourceTensor> tensors;
  bool adapted = false;
  for (auto& [name, tensor] : source.tensors) {
    const size_t at = name.find(kParts);
    if (at == std::string::npos) {
      tensors.emplace(name, std::move(tensor));
    } else if (name.ends_with(kOriginal)) {
      const std::string weight = name.substr(at + kParts.size());
      tensors.emplace(name.substr(0, at + 1) + weight.substr(0, weight.size() - kOriginal.size()),
                      std::move(tensor));
    } else {
      adapted = true;
    }
  }
  source.tensors = std::move(tensors);
  if (adapted)
    source.notes.emplace_back("the adapters for tasks are left out, as the original does without a task");
}

/// XLMRobertaFlashConfig.
void take_flash_roberta(PublishedKeys& keys, Source& source) {
  json& all = keys.keys();
  const json positions = all.value("position_embedding_type", json("rotary"));
  keys.drop({"position_embedding_type"});
  if (positions == json("rotary")) {
    keys.set_default("rotary_emb_base", 10000.0);
    keys.rename("rotary_emb_base", "rope_theta");
  } else if (positions == json("absolute")) {
    keys.drop({"rotary_emb_base"});
  } else {
    keys.file().refuse_value("position_embedding_type", &positions, "rotary or absolute");
  }
  all["model_type"] = "jina_embeddings_v3";
  keys.drop({"emb_pooler", "load_trained_adapters", "lora_adaptations", "lora_alpha", "lora_dropout_p",
             "lora_main_params_trainable", "lora_rank", "matryoshka_dimensions", "task_instructions",
             "truncate_dim", "use_flash_attn", "use_reentrant"});
  take_unadapted(source);
}

void take_jina_bert(PublishedKeys& keys, Source&) {
  keys.keys()["model_type"] = "jina_bert";
  keys.drop({"emb_pooler"});
}

/// Published code, by the start of its classes' names.
struct PublishedCode {
  std::string_view start;
  void (*take)(PublishedKeys&, Source&);
};
constexpr PublishedCode kPublished[] = {{"NomicBert", take_nomic_bert},
                                        {"NewModel", take_gte},
                                        {"NewFor", take_gte},
                                        {"Gte", take_gte},
                                        {"XLMRobertaFlash", take_flash_roberta},
                                        {"XLMRobertaLoRA", take_flash_roberta},
                                        {"JinaBert", take_jina_bert}};

/// The class by what else says it, where auto_map does not.
std::string unmapped_class(const json& config) {
  const json type = config.value("model_type", json()),
             positions = config.value("position_embedding_type", json());
  if (type == json("new")) return "NewModel";
  if (type == json("gte")) return "GteModel";
  if (type == json("nomic_bert")) return "NomicBertModel";
  return type == json("bert") && positions == json("alibi") ? "JinaBertModel" : "";
}

/// Letters and digits, small.
std::string bare(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

}  // namespace

std::string published_class(const nlohmann::json& config) {
  const auto map = config.find("auto_map");
  if (map == config.end() || !map->is_object()) return "";
  std::string found;
  for (const auto& [key, value] : map->items()) {  // "repository--module.Class"
    const json& one = value.is_array() && !value.empty() ? value.front() : value;
    if (!key.starts_with("AutoModel") || !one.is_string()) continue;
    const std::string name = one.get<std::string>();
    const std::string last = name.substr(name.rfind('.') + 1);
    if (found.empty() || key == "AutoModel") found = last;
  }
  return found;
}

bool is_class_of(const std::string& published, const std::string& model_type) {
  const std::string wanted = bare(model_type), name = bare(published);
  if (!name.starts_with(wanted)) return false;
  const std::string rest = name.substr(wanted.size());
  return rest.starts_with("for") || rest.starts_with("model") || rest.starts_with("lmhead") ||
         rest.starts_with("pretrained") || rest.empty();
}

void take_published_code(Source& source) {
  if (source.format != "hf") return;
  std::string name = published_class(*source.config);
  if (name.empty()) name = unmapped_class(*source.config);
  for (const PublishedCode& code : kPublished) {
    if (!name.starts_with(code.start)) continue;
    json keys = *source.config;
    PublishedKeys published(keys, source.config_path.string());
    code.take(published, source);
    keys.erase("auto_map");
    source.config = std::make_shared<const json>(std::move(keys));
    return;
  }
}

}  // namespace mote::convert
