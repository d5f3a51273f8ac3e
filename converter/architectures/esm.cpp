// SPDX-License-Identifier: Apache-2.0
//
// ESM-2 (Lin et al. 2022), a language model of proteins: BERT with norms before the branches and RoPE, whose
// embedding is scaled by how many tokens are masked.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

void read_positions(const Source& source, Config& config, const std::string& base, TransformerSpec& spec) {
  const std::string type = config.text("position_embedding_type", "absolute");
  const uint32_t rows = config.size("max_position_embeddings", 1, kMaxSize, 1026);
  const double theta = config.number("rope_theta", 10000.0);
  if (type == "rotary") {
    set_positions(source, config, rows, 0, spec);
    spec.ropes = {plain_rope(config, spec.layers[0].attention.head_dim, theta)};
    for (LayerSpec& layer : spec.layers) layer.attention.rope = 0;
  } else if (type == "absolute") {
    set_positions(source, config, rows, config.size("pad_token_id", 0, kMaxSize) + 1, spec);
    spec.names.positions = base + "embeddings.position_embeddings";
  } else {
    config.refuse("position_embedding_type {} is not supported; supported are rotary, absolute", type);
  }
}

}  // namespace

TransformerSpec read_esm(const Source& source, Config& config) {
  const std::string base = base_of(source, "esm.");
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize, 768);
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("num_attention_heads", 1, kMaxSize, 12),
                                "hidden_size", "num_attention_heads");
  layer.ffn = {Ffn::plain, Activation::gelu, config.size("intermediate_size", 1, kMaxSize, 3072), true};
  const std::string prefix = base + "encoder.layer.{}.";
  layer.names =
      post_norm_names(prefix, {"attention.self.query", "attention.self.key", "attention.self.value",
                               "attention.output.dense", "", "intermediate.dense", "output.dense", ""});
  layer.names.attention_norms = {.before = prefix + "attention.LayerNorm", .after = "", .sum = ""};
  layer.names.ffn_norms = {.before = prefix + "LayerNorm", .after = "", .sum = ""};
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  set_layer_norms(config, 1e-12, spec);
  read_positions(source, config, base, spec);
  for (const char* key : {"is_folding_model", "is_decoder", "add_cross_attention"}) {
    if (config.has(key) && config.flag(key, false)) config.refuse("{} is true, which is not supported", key);
  }
  for (const char* key : {"esmfold_config", "vocab_list", "type_vocab_size"})
    config.value(key);  // it uses none
  if (config.has("token_dropout") && config.flag("token_dropout", false)) {
    spec.dropped_id = config.token_id("mask_token_id", spec.vocab);
    if (spec.dropped_id == -1) config.refuse("token_dropout is true and mask_token_id is no token");
  }
  spec.names.embedding = base + "embeddings.word_embeddings";
  if (config.has("emb_layer_norm_before") && config.flag("emb_layer_norm_before", false))
    spec.names.embedding_norm = base + "embeddings.layer_norm";
  spec.names.final_norm = base + "encoder.emb_layer_norm_after";
  spec.names.ignored = {"embeddings.position_ids", "rotary_embeddings.inv_freq"};
  read_head(source, config, roberta_heads(base, spec.width), spec);
  spec.names.ignored_starts.push_back(base + "contact_head.");
  return spec;
}

}  // namespace mote::convert
