// SPDX-License-Identifier: Apache-2.0
//
// DeepSeek-V3 (2024): latent attention, and mixtures of experts that are chosen within groups. MiniCPM3
// (2024): the same attention with plain feed-forwards.
#include <algorithm>
#include <cmath>

#include "converter/architectures/mixtures.h"
#include "converter/architectures/shared/latent_attention.h"

namespace mote::convert {
TransformerSpec read_deepseek_v3(const Source& source, Config& config) {
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  const uint32_t width = config.size("hidden_size", 1, kMaxSize, 7168);
  const LatentSpec latent = read_latent(config, width, prefix + "self_attn.", {128, 512, 1536, 128, 64, 128});
  LlamaDefaults defaults = llama_defaults("deepseek_v3");
  defaults.head_dim = latent.rope_dim;  // RoPE alone goes by it
  TransformerSpec spec = read_llama_like(source, config, defaults);
  spec.ropes = {read_rope(config, latent.rope_dim, spec.context, {})};
  // Both orders of pairs give the same scores, as queries and keys are turned alike.
  if (config.flag("rope_interleave", true)) spec.ropes[0].kind = RopeKind::interleaved;

  MixtureSpec experts;
  experts.width = config.size("moe_intermediate_size", 1, kMaxSize, 2048);
  const bool is_local = config.has("num_local_experts");
  read_experts(config, {is_local ? "num_local_experts" : "n_routed_experts", 256, 8}, experts);
  experts.activation = spec.layers[0].ffn.activation;
  name_experts(source, prefix + "mlp.experts.", {"gate_proj", "up_proj", "down_proj"}, experts);
  experts.router = prefix + "mlp.gate";
  experts.selection_bias = prefix + "mlp.gate.e_score_correction_bias";
  experts.scores = Scores::sigmoid;
  experts.groups = config.size("n_group", 1, kMaxExperts, 8);
  experts.groups_chosen = config.size("topk_group", 1, kMaxExperts, 4);
  if (experts.experts % experts.groups != 0 || experts.groups_chosen > experts.groups ||
      experts.chosen > experts.experts / experts.groups * experts.groups_chosen) {
    config.refuse("{} of {} experts in topk_group {} of n_group {}", experts.chosen, experts.experts,
                  experts.groups_chosen, experts.groups);
  }
  experts.normalized = config.flag("norm_topk_prob", true);
  experts.eps = 1e-20f;
  experts.factor = static_cast<float>(config.number("routed_scaling_factor", 2.5));
  const uint32_t shared = config.size("n_shared_experts", 1, kMaxExperts, 1);
  experts.shared = {Ffn::gated, experts.activation, shared * experts.width};
  experts.shared_gate = prefix + "mlp.shared_experts.gate_proj";
  experts.shared_up = prefix + "mlp.shared_experts.up_proj";
  experts.shared_down = prefix + "mlp.shared_experts.down_proj";
  if (config.text("scoring_func", "sigmoid") != "sigmoid" ||
      config.text("topk_method", "noaux_tc") != "noaux_tc" ||
      config.size("moe_layer_freq", 1, kMaxLayers, 1) != 1)
    config.refuse(
        "scoring_func, topk_method and moe_layer_freq other than sigmoid, noaux_tc and 1 are not supported");
  const uint32_t further = config.optional_size("num_nextn_predict_layers", 0, kMaxLayers).value_or(1);
  for (const char* key : {"num_mtp_layers", "ep_size", "seq_aux", "aux_loss_alpha"})
    config.value(key);  // of training, and of layers that the original leaves out
  const uint32_t dense = config.size("first_k_dense_replace", 0, kMaxLayers, 3);
  const size_t layers = spec.layers.size();
  for (size_t i = 0; i < layers; ++i) {
    const bool is_dense = i < dense;
    spec.layers[i].build = [latent, experts, is_dense](TransformerBuilder& builder, const LayerSpec& self) {
      latent_attention(builder, self, latent);
      if (is_dense) {
        builder.ffn(self);
      } else {
        mixture(builder, self, experts);
      }
    };
  }
  for (size_t i = layers; i < layers + std::max<uint32_t>(further, 1); ++i) {
    const std::string start = base + "layers." + std::to_string(i) + ".";
    const auto first = source.tensors.lower_bound(start);
    if (first == source.tensors.end() || !first->first.starts_with(start)) continue;
    spec.names.ignored_starts.push_back(start);
    spec.notes.push_back(fmt::format("weights below {} are left out: they predict further tokens", start));
  }
  return spec;
}

TransformerSpec read_minicpm3(const Source& source, Config& config) {
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  const uint32_t width = config.size("hidden_size", 1, kMaxSize, 2560);
  const LatentSpec latent =
      read_latent(config, width, prefix + "self_attn.", {40, 256, 768, 64, 32, std::nullopt});
  LlamaDefaults defaults = llama_defaults("minicpm3");
  defaults.head_dim = latent.rope_dim;
  TransformerSpec spec = read_llama_like(source, config, defaults);
  spec.ropes = {read_rope(config, latent.rope_dim, spec.context, {})};
  spec.embedding_multiplier = static_cast<float>(config.number("scale_emb", 12));
  const double layers = static_cast<double>(spec.layers.size());
  const double depth = config.is_null("scale_depth") ? std::sqrt(layers) : config.number("scale_depth", 1.4);
  const uint32_t base_width =
      config.is_null("dim_model_base") ? spec.width : config.size("dim_model_base", 1, kMaxSize, 256);
  spec.logit_multiplier = static_cast<float>(static_cast<double>(base_width) / spec.width);
  for (LayerSpec& layer : spec.layers) {
    layer.residual_multiplier = static_cast<float>(depth / std::sqrt(layers));
    layer.build = [latent](TransformerBuilder& builder, const LayerSpec& self) {
      latent_attention(builder, self, latent);
      builder.ffn(self);
    };
  }
  return spec;
}

}  // namespace mote::convert
