// SPDX-License-Identifier: Apache-2.0
//
// MPT (MosaicML 2023): ALiBi with slopes of its own for heads that are no power of two, norms and linears
// without biases, and clipped q, k and v.
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

/// Slopes of the next power of two of heads: every second one first, then the others.
std::vector<float> mpt_slopes(uint32_t heads, uint32_t most) {
  const uint32_t power = std::bit_ceil(heads);
  const auto slope = [&](uint32_t i) {
    return 1.0f /
           std::exp2(static_cast<float>(i + 1) * (static_cast<float>(most) / static_cast<float>(power)));
  };
  std::vector<float> slopes;
  for (uint32_t i = 0; i < heads; ++i) {
    const uint32_t half = power / 2;
    slopes.push_back(slope(power == heads ? i : i < half ? 2 * i + 1 : 2 * (i - half)));
  }
  return slopes;
}

void read_attention(Config& config, AttentionSpec& attention) {
  attention.qkv_bias = attention.o_bias = false;
  const nlohmann::json* given = config.value("attn_config");
  if (given != nullptr && !given->is_object()) config.refuse_value("attn_config", given, "an object");
  const nlohmann::json none = nlohmann::json::object();
  Config inner = config.inner(given != nullptr ? *given : none, "attn_config.");
  if (inner.text("attn_type", "multihead_attention") != "multihead_attention")
    config.refuse("attn_config.attn_type is not multihead_attention");
  for (const char* flag : {"prefix_lm", "qk_ln", "attn_uses_sequence_id"}) require_flag(inner, flag, false);
  require_flag(inner, "alibi", true);
  attention.slopes = mpt_slopes(attention.heads, inner.size("alibi_bias_max", 1, 1024, 8));
  attention.clip = static_cast<float>(inner.optional_number("clip_qkv").value_or(0.0));
  if (!(attention.clip >= 0.0f)) config.refuse("attn_config.clip_qkv is {}", attention.clip);
  if (const auto scale = inner.optional_number("softmax_scale")) attention.scale = static_cast<float>(*scale);
  inner.value("attn_impl");
  inner.finish();
}

}  // namespace

TransformerSpec read_mpt(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec = read_gpt_like(config, base, "mpt");
  AttentionSpec attention = spec.layers[0].attention;
  read_attention(config, attention);
  if (config.size("expansion_ratio", 1, kMaxSize, 4) != 4) config.refuse("expansion_ratio is not 4");
  for (LayerSpec& layer : spec.layers) {
    layer.attention = attention;
    layer.ffn.activation = Activation::gelu;
    layer.ffn.bias = false;
  }
  spec.norm_bias = false;
  require_flag(config, "no_bias", true);
  if (config.value("logit_scale") != nullptr) config.refuse("logit_scale is not supported");
  if (config.text("norm_type", "low_precision_layernorm") != "low_precision_layernorm")
    config.refuse("norm_type is not low_precision_layernorm");
  for (const char* unused :
       {"learned_pos_emb", "embedding_fraction", "init_device", "verbose", "init_config"})
    config.value(unused);
  return spec;
}

}  // namespace mote::convert
