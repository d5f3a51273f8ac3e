// SPDX-License-Identifier: Apache-2.0
//
// Falcon-H1 (TII 2025): Mamba-2 and attention beside each other in every layer, with multipliers throughout.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

struct HybridSpec {
  Mamba2Spec mixer;
  std::string out;  // the projection after the scan
  bool out_bias = false;
  float ssm_in = 1.0f, ssm_out = 1.0f, attention_in = 1.0f, attention_out = 1.0f, down = 1.0f;
};

float multiplier(Config& config, const std::string& key) {
  return static_cast<float>(config.optional_number(key).value_or(1.0));
}

BlockInput scaled(TransformerBuilder& builder, const BlockInput& in, float factor) {
  const View out = builder.new_value(in.f32.width, Unit::token);
  builder.add(ScaleRowsNode{in.f32, out, -1, factor});
  return {out};
}

LayerSpec with_multiplier(LayerSpec layer, float factor) {
  layer.residual_multiplier = factor;
  return layer;
}

void build_hybrid(TransformerBuilder& builder, const LayerSpec& layer, const HybridSpec& spec) {
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = builder.branch_input(layer, norms, "attention");
  BlockInput of_mixer = spec.ssm_in == 1.0f ? in : scaled(builder, in, spec.ssm_in);
  BlockInput of_attention = spec.attention_in == 1.0f ? in : scaled(builder, in, spec.attention_in);
  const View mixed = mamba2(builder, layer, spec.mixer, of_mixer);
  const View heads = builder.attended(layer, of_attention);
  builder.add_branch(with_multiplier(layer, spec.ssm_out), norms, "mixer", mixed,
                     builder.projection("out", of_layer(spec.out, layer), builder.x().width, mixed.width,
                                        Role::matrix, spec.out_bias));
  builder.add_branch(with_multiplier(layer, spec.attention_out), norms, "attention", heads, builder.o(layer));
  builder.ffn(with_multiplier(layer, spec.down));
}

Mamba2Spec read_mixer(Config& config, uint32_t width) {
  const uint32_t expanded = width * config.size("mamba_expand", 1, 64, 2);
  const uint32_t all = config.optional_size("mamba_d_ssm", 1, kMaxSize, 1024).value_or(expanded);
  Mamba2Spec mixer = read_hybrid_mixer(config, all);
  check_hybrid_mixer(config, mixer, all);
  const bool norm_first = config.flag("mamba_norm_before_gate", true);
  mixer.gate = !config.flag("mamba_rms_norm", false) ? Mamba2Spec::Gate::alone
               : norm_first                          ? Mamba2Spec::Gate::after_norm
                                                     : Mamba2Spec::Gate::before_norm;
  const std::vector<float> factors = read_numbers(config, "ssm_multipliers", mixer.multipliers.size(), 1.0f);
  std::copy(factors.begin(), factors.end(), mixer.multipliers.begin());
  return mixer;
}

}  // namespace

TransformerSpec read_falcon_h1(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "falcon_h1");
  spec.embedding_multiplier = multiplier(config, "embedding_multiplier");
  spec.logit_multiplier = multiplier(config, "lm_head_multiplier");
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  spec.names.final_norm = base + "final_layernorm";
  config.value("num_logits_to_keep");

  HybridSpec hybrid;
  hybrid.mixer = read_mixer(config, spec.width);
  hybrid.mixer.base = prefix + "mamba.";
  hybrid.out = prefix + "mamba.out_proj";
  hybrid.out_bias = config.flag("projectors_bias", false);
  hybrid.ssm_in = multiplier(config, "ssm_in_multiplier");
  hybrid.ssm_out = multiplier(config, "ssm_out_multiplier");
  hybrid.attention_in = multiplier(config, "attention_in_multiplier");
  hybrid.attention_out = multiplier(config, "attention_out_multiplier");
  const std::vector<float> ffn = read_numbers(config, "mlp_multipliers", 2, 1.0f);
  hybrid.down = ffn[1];
  const float key = multiplier(config, "key_multiplier");
  for (LayerSpec& layer : spec.layers) {
    layer.attention.scale *= key;
    layer.ffn.gate_multiplier = ffn[0];
    layer.names.ffn_norms.before = prefix + "pre_ff_layernorm";
    layer.names.gate = prefix + "feed_forward.gate_proj";
    layer.names.up = prefix + "feed_forward.up_proj";
    layer.names.down = prefix + "feed_forward.down_proj";
    layer.build = [hybrid](TransformerBuilder& builder, const LayerSpec& self) {
      build_hybrid(builder, self, hybrid);
    };
  }
  return spec;
}

}  // namespace mote::convert
