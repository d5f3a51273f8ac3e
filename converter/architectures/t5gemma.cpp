// SPDX-License-Identifier: Apache-2.0
//
// T5Gemma (Zhang et al. 2025): an encoder and a decoder of Gemma 2's layers. An encoder's layer that slides
// sees the window on either side; the attention to the source has norms of its own and no RoPE.
#include <memory>
#include <utility>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "host/base/error.h"

namespace mote::convert {

TransformerSpec read_gemma2(const Source& source, Config& config);

namespace {

TransformerSpec read_gemma_side(const Source& source, Config& config, const std::string& side, bool decoder) {
  const nlohmann::json* const json = config.value(side);
  if (json == nullptr) config.refuse("there is no {}", side);
  Config own = config.inner(*json, side + ".");
  TransformerSpec spec = read_gemma2(source, own);
  if (const auto type = own.optional_text("model_type"); type && *type != "t5_gemma_module")
    own.refuse("model_type {} is not supported", *type);
  know(own, {"classifier_dropout_rate", "cross_attention_hidden_size", "dropout_rate"});
  own.finish();
  const std::string base = "model." + side + ".", prefix = base + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    LayerNames& names = layer.names;
    names = {};
    const auto attend = [&](LayerNames& to, const std::string& kind) {
      const std::string attention = prefix + kind + ".";
      to.q = attention + "q_proj";
      to.k = attention + "k_proj";
      to.v = attention + "v_proj";
      to.o = attention + "o_proj";
      to.attention_norms = {prefix + "pre_" + kind + "_layernorm", prefix + "post_" + kind + "_layernorm",
                            ""};
    };
    attend(names, "self_attn");
    names.gate = prefix + "mlp.gate_proj";
    names.up = prefix + "mlp.up_proj";
    names.down = prefix + "mlp.down_proj";
    names.ffn_norms = {prefix + "pre_feedforward_layernorm", prefix + "post_feedforward_layernorm", ""};
    if (!decoder) {
      layer.attention.sides = std::exchange(layer.attention.window, 0);
      continue;
    }
    LayerSpec cross = layer;
    attend(cross.names, "cross_attn");
    set_cross(std::move(cross), layer);
  }
  spec.names.embedding = base + "embed_tokens";
  spec.names.final_norm = base + "norm";
  return spec;
}

}  // namespace

TransformerSpec read_t5gemma(const Source& source, Config& config) {
  TransformerSpec spec = read_gemma_side(source, config, "decoder", true);
  TransformerSpec encoder = read_gemma_side(source, config, "encoder", false);
  if (encoder.vocab != spec.vocab || config.size("vocab_size", 1, kMaxSize, spec.vocab) != spec.vocab)
    config.refuse("vocabularies of several sizes are not supported");
  if (encoder.context > spec.context) encoder.context = spec.context;
  encoder.logit_softcap = 0.0f;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.names.head = "lm_head.out_proj";
  set_encoder(config, std::move(encoder), spec);
  return spec;
}

}  // namespace mote::convert
