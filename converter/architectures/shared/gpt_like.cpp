// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

/// A key and what the config class has where it is absent.
struct SizeKey {
  const char* name;
  uint32_t absent;
};

/// Below the layer's prefix, the first; "" for what there is not. q, k and v are one matrix, or three.
struct GptLayerNames {
  const char *prefix, *attention_norm, *qkv, *q, *k, *v, *o, *ffn_norm, *up, *down;
};

struct GptNames {
  const char *embedding, *positions, *final_norm, *head;
};

struct GptLike {
  const char* model_type;
  uint32_t vocab;
  SizeKey width, context, heads, layers;
  SizeKey ffn;                 // absent 0: the key may be null too; then, or without a key, 4 times the width
  const char* activation_key;  // null: it has none, the activation is GELU by tanh
  const char* activation;
  const char* eps_key;  // null: it has none
  bool tied;
  int32_t bos_id;  // -1: none
  GptLayerNames layer;
  GptNames names;
  const char* second_width_key = nullptr;  // null: none; where it is in the config, it counts
};

constexpr const char* kEps = "layer_norm_epsilon";

// clang-format off
constexpr GptLike kGptLike[] = {
    {"bloom", 250880, {"hidden_size", 64}, {"seq_length", 2048}, {"n_head", 8}, {"n_layer", 2}, {},
     nullptr, nullptr, kEps, true, 1,
     {"h.{}.", "input_layernorm", "self_attention.query_key_value", "", "", "", "self_attention.dense",
      "post_attention_layernorm", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"},
     {"word_embeddings", "", "ln_f", "lm_head"}, "n_embed"},
    {"falcon", 65024, {"hidden_size", 4544}, {"max_position_embeddings", 2048}, {"num_attention_heads", 71},
     {"num_hidden_layers", 32}, {"ffn_hidden_size", 0}, "activation", "gelu", kEps, true, 11,
     {"h.{}.", "input_layernorm", "self_attention.query_key_value", "", "", "", "self_attention.dense", "",
      "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"},
     {"word_embeddings", "", "ln_f", "lm_head"}, "n_embed"},
    {"gpt2", 50257, {"n_embd", 768}, {"n_positions", 1024}, {"n_head", 12}, {"n_layer", 12}, {"n_inner", 0},
     "activation_function", "gelu_new", kEps, true, 50256,
     {"h.{}.", "ln_1", "attn.c_attn", "", "", "", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"},
     {"wte", "wpe", "ln_f", "lm_head"}},
    {"gpt_neo", 50257, {"hidden_size", 2048}, {"max_position_embeddings", 2048}, {"num_heads", 16},
     {"num_layers", 24}, {"intermediate_size", 0}, "activation_function", "gelu_new", kEps, true, 50256,
     {"h.{}.", "ln_1", "", "attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj",
      "attn.attention.out_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"},
     {"wte", "wpe", "ln_f", "lm_head"}},
    {"gpt_neox", 50432, {"hidden_size", 6144}, {"max_position_embeddings", 2048}, {"num_attention_heads", 64},
     {"num_hidden_layers", 44}, {"intermediate_size", 24576}, "hidden_act", "gelu", "layer_norm_eps", false, 0,
     {"layers.{}.", "input_layernorm", "attention.query_key_value", "", "", "", "attention.dense",
      "post_attention_layernorm", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"},
     {"embed_in", "", "final_layer_norm", "embed_out"}},
    {"gptj", 50400, {"n_embd", 4096}, {"n_positions", 2048}, {"n_head", 16}, {"n_layer", 28}, {"n_inner", 0},
     "activation_function", "gelu_new", kEps, false, 50256,
     {"h.{}.", "ln_1", "", "attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.out_proj", "", "mlp.fc_in",
      "mlp.fc_out"},
     {"wte", "", "ln_f", "lm_head"}},
    {"modernbert-decoder", 50368, {"hidden_size", 768}, {"max_position_embeddings", 8192},
     {"num_attention_heads", 12}, {"num_hidden_layers", 22}, {"intermediate_size", 1152}, "hidden_activation",
     "gelu", "norm_eps", true, 50281,
     {"layers.{}.", "attn_norm", "", "attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.Wo", "mlp_norm", "",
      "mlp.Wo"},
     {"embeddings.tok_embeddings", "", "final_norm", "decoder"}},
    {"mpt", 50368, {"d_model", 2048}, {"max_seq_len", 2048}, {"n_heads", 16}, {"n_layers", 24}, {},
     nullptr, nullptr, kEps, true, -1,
     {"blocks.{}.", "norm_1", "attn.Wqkv", "", "", "", "attn.out_proj", "norm_2", "ffn.up_proj",
      "ffn.down_proj"},
     {"wte", "", "norm_f", "lm_head"}},
    {"openai-gpt", 40478, {"n_embd", 768}, {"n_positions", 512}, {"n_head", 12}, {"n_layer", 12}, {},
     "afn", "gelu", kEps, true, -1,
     {"h.{}.", "ln_1", "attn.c_attn", "", "", "", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"},
     {"tokens_embed", "positions_embed", "", "lm_head"}},
    {"opt", 50272, {"hidden_size", 768}, {"max_position_embeddings", 2048}, {"num_attention_heads", 12},
     {"num_hidden_layers", 12}, {"ffn_dim", 3072}, "activation_function", "relu", nullptr, true, 2,
     {"layers.{}.", "self_attn_layer_norm", "", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
      "self_attn.out_proj", "final_layer_norm", "fc1", "fc2"},
     {"embed_tokens", "embed_positions", "final_layer_norm", "lm_head"}},
    {"xglm", 256008, {"d_model", 1024}, {"max_position_embeddings", 2048}, {"attention_heads", 16},
     {"num_layers", 24}, {"ffn_dim", 4096}, "activation_function", "gelu", nullptr, true, 0,
     {"layers.{}.", "self_attn_layer_norm", "", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
      "self_attn.out_proj", "final_layer_norm", "fc1", "fc2"},
     {"embed_tokens", "", "layer_norm", "lm_head"}},
};
// clang-format on

/// "" stays empty.
std::string behind(const std::string& prefix, const char* name) { return *name == '\0' ? "" : prefix + name; }

LayerNames layer_names(const std::string& base, const GptLayerNames& names) {
  const std::string prefix = base + names.prefix;
  LayerNames layer;
  layer.attention_norms.before = behind(prefix, names.attention_norm);
  layer.qkv = behind(prefix, names.qkv);
  layer.q = behind(prefix, names.q);
  layer.k = behind(prefix, names.k);
  layer.v = behind(prefix, names.v);
  layer.o = behind(prefix, names.o);
  layer.ffn_norms.before = behind(prefix, names.ffn_norm);
  layer.up = behind(prefix, names.up);
  layer.down = behind(prefix, names.down);
  return layer;
}

uint32_t read_size(Config& config, const SizeKey& key, uint32_t most = kMaxSize) {
  return config.size(key.name, 1, most, key.absent);
}

FfnSpec read_ffn(Config& config, uint32_t width, const GptLike& gpt) {
  FfnSpec ffn{Ffn::plain, Activation::gelu_tanh, 4 * width, true};
  if (gpt.activation_key != nullptr)
    ffn.activation = read_activation(config, gpt.activation_key, gpt.activation);
  if (gpt.ffn.name == nullptr) return ffn;
  ffn.width = gpt.ffn.absent != 0 ? read_size(config, gpt.ffn)
                                  : config.optional_size(gpt.ffn.name, 1, kMaxSize).value_or(ffn.width);
  return ffn;
}

}  // namespace

void put_norms_behind(LayerNames& names) {
  for (BranchNorms* norms : {&names.attention_norms, &names.ffn_norms})
    norms->sum = std::exchange(norms->before, "");
}

TransformerSpec read_gpt_like(Config& config, const std::string& base, const std::string& model_type) {
  const GptLike& gpt = *std::find_if(std::begin(kGptLike), std::end(kGptLike),
                                     [&](const GptLike& row) { return row.model_type == model_type; });
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, gpt.vocab);
  spec.width = read_size(config, gpt.width);
  if (gpt.second_width_key != nullptr)
    spec.width = config.optional_size(gpt.second_width_key, 1, kMaxSize).value_or(spec.width);
  spec.context = read_size(config, gpt.context);
  LayerSpec layer;
  layer.attention =
      equal_heads(config, spec.width, read_size(config, gpt.heads), gpt.width.name, gpt.heads.name);
  layer.ffn = read_ffn(config, spec.width, gpt);
  layer.names = layer_names(base, gpt.layer);
  spec.repeat(layer, read_size(config, gpt.layers, kMaxLayers));
  set_layer_norms(gpt.eps_key == nullptr ? 1e-5 : config.number(gpt.eps_key, 1e-5), spec);
  spec.tied_embedding = config.flag("tie_word_embeddings", gpt.tied);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, gpt.bos_id);
  spec.names.embedding = behind(base, gpt.names.embedding);
  spec.names.positions = behind(base, gpt.names.positions);
  spec.names.final_norm = behind(base, gpt.names.final_norm);
  spec.names.head = gpt.names.head;
  return spec;
}

}  // namespace mote::convert
