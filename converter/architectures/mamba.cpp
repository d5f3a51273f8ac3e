// SPDX-License-Identifier: Apache-2.0
//
// Mamba (Gu and Dao 2023) and Mamba-2 (Dao and Gu 2024): layers of one branch, a scan, and no positions.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

/// Reads the keys that the two share. Keys of the initialisation and of the way to compute change nothing.
TransformerSpec read_mamba_like(Config& config, uint32_t vocab, uint32_t width, int64_t bos_id, bool tied) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, vocab);
  spec.width = config.size("hidden_size", 1, kMaxSize, width);
  spec.context = kUnlimitedContext;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.tied_embedding = config.flag("tie_word_embeddings", tied);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, bos_id);
  spec.names.embedding = "backbone.embeddings";
  spec.names.final_norm = "backbone.norm_f";
  spec.names.head = "lm_head";
  for (const char* key :
       {"residual_in_fp32", "rescale_prenorm_residual", "time_step_floor", "time_step_max", "time_step_min",
        "time_step_scale", "time_step_init_scheme", "use_mambapy", "use_associative_scan", "chunk_size"})
    config.value(key);
  return spec;
}

/// Layers of the branch `build` alone.
template <typename Mixer>
void repeat_mixer(Config& config, const Mixer& mixer,
                  View (*build)(TransformerBuilder&, const LayerSpec&, const Mixer&, BlockInput&),
                  uint32_t layers, TransformerSpec& spec) {
  LayerSpec layer;
  layer.names.attention_norms.before = "backbone.layers.{}.norm";
  layer.build = [mixer, build](TransformerBuilder& builder, const LayerSpec& self) {
    mixer_branch(builder, self, mixer.base + "out_proj", mixer.bias,
                 [&](BlockInput& in) { return build(builder, self, mixer, in); });
  };
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, layers));
}

ConvSpec read_conv(Config& config) {
  ConvSpec conv;
  conv.taps = read_taps(config, "conv_kernel", 4);
  conv.bias = config.flag("use_conv_bias", true);
  conv.activation = Activation::silu;
  if (read_activation(config, "hidden_act", "silu") != Activation::silu)
    config.refuse("hidden_act is {}; the gate of a scan is silu", config.text("hidden_act"));
  return conv;
}

}  // namespace

TransformerSpec read_mamba(const Source&, Config& config) {
  TransformerSpec spec = read_mamba_like(config, 50280, 768, 0, true);
  MambaSpec mixer;
  mixer.base = "backbone.layers.{}.mixer.";
  mixer.width = spec.width * config.size("expand", 1, 64, 2);
  if (config.size("intermediate_size", 1, kMaxSize, mixer.width) != mixer.width)
    config.refuse("intermediate_size is not expand times hidden_size, {}", mixer.width);
  mixer.states = config.size("state_size", 1, kMaxStateColumns, 16);
  const nlohmann::json* rank = config.value("time_step_rank");
  mixer.rank = rank == nullptr || *rank == "auto" ? (spec.width + 15) / 16
                                                  : config.size("time_step_rank", 1, kMaxSize);
  mixer.bias = config.flag("use_bias", false);
  mixer.conv = read_conv(config);
  repeat_mixer(config, mixer, mamba, 32, spec);
  return spec;
}

TransformerSpec read_mamba2(const Source&, Config& config) {
  TransformerSpec spec = read_mamba_like(config, 32768, 4096, 0, false);
  Mamba2Spec mixer;
  mixer.base = "backbone.layers.{}.mixer.";
  mixer.heads = config.size("num_heads", 1, kMaxSize, 128);
  mixer.head_dim = config.size("head_dim", 1, kMaxHeadDim, 64);
  mixer.groups = config.size("n_groups", 1, kMaxSize, 8);
  mixer.states = config.size("state_size", 1, kMaxStateColumns, 128);
  const uint64_t width = uint64_t{spec.width} * config.size("expand", 1, 64, 2);
  if (uint64_t{mixer.heads} * mixer.head_dim != width)
    config.refuse("num_heads {} of head_dim {} are not expand times hidden_size, {}", mixer.heads,
                  mixer.head_dim, width);
  if (mixer.heads % mixer.groups != 0)
    config.refuse("num_heads {} is not a multiple of n_groups {}", mixer.heads, mixer.groups);
  config.value("time_step_rank");  // of Mamba alone
  read_time_limits(config, mixer);
  mixer.bias = config.flag("use_bias", false);
  mixer.conv = read_conv(config);
  mixer.norm_groups = mixer.groups;
  repeat_mixer(config, mixer, mamba2, 64, spec);
  return spec;
}

}  // namespace mote::convert
