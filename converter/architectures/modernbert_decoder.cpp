// SPDX-License-Identifier: Apache-2.0
//
// ModernBERT as a decoder (Weller et al. 2025): layer norms, one behind the embedding and none before the
// first attention, a RoPE and a window for layers that slide, a dense layer before the head.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

void read_kinds(Config& config, uint32_t head_dim, TransformerSpec& spec) {
  KindRopeKeys keys{{.theta = 160000.0, .theta_key = "global_rope_theta"},
                    {.theta = 10000.0, .theta_key = "local_rope_theta"}};
  keys.scales_sliding = true;
  keys.full_head_dim = keys.sliding_head_dim = head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
  // local_attention counts what a token sees on both sides; a decoder sees half of it, unless the file says.
  const uint32_t half = config.optional_size("local_attention", 2, kMaxSize, 128).value_or(0) / 2;
  const bool says = config.value("sliding_window") != nullptr;
  const uint32_t window = says ? config.size("sliding_window", 1, kMaxSize, half) : half;
  const uint32_t every = config.size("global_attn_every_n_layers", 1, kMaxLayers, 3);
  const std::vector<bool> slides =
      read_sliding_layers(config, spec.layers.size(), [&](uint32_t layer) { return layer % every != 0; });
  for (size_t i = 0; i < slides.size(); ++i) {
    spec.layers[i].attention.window = slides[i] ? window : 0;
    spec.layers[i].attention.rope = slides[i] ? 1 : 0;
  }
}

}  // namespace

TransformerSpec read_modernbert_decoder(const Source& source, Config& config) {
  const std::string base = base_of(source, "model.");
  TransformerSpec spec = read_gpt_like(config, base, "modernbert-decoder");
  const bool attention_bias = config.flag("attention_bias", false), mlp_bias = config.flag("mlp_bias", false);
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = attention_bias;
    layer.ffn.kind = Ffn::gated;
    layer.ffn.bias = mlp_bias;
    layer.names.gate_up = base + "layers.{}.mlp.Wi";
  }
  spec.layers[0].names.attention_norms.before = "";
  read_kinds(config, spec.layers[0].attention.head_dim, spec);
  spec.norm_bias = config.flag("norm_bias", false);
  // These keys are of training and of how the original computes.
  know(config, {"initializer_cutoff_factor", "reference_compile"});
  spec.names.embedding_norm = base + "embeddings.norm";
  spec.head.dense = {"lm_head.dense", "lm_head.norm",
                     read_activation(config, "classifier_activation", "gelu"), spec.width,
                     config.flag("classifier_bias", false)};
  if (config.flag("decoder_bias", true)) spec.head.output_bias = "decoder.bias";
  return spec;
}

}  // namespace mote::convert
