// SPDX-License-Identifier: Apache-2.0
//
// nanochat (Karpathy 2025): llama with norms without weights, one behind the embedding too, norms of the
// heads behind RoPE, which turns the other way, a squared relu and capped logits.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_nanochat(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "nanochat");
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.norm_after_rope = true;
    layer.ffn.kind = Ffn::plain;
    LayerNames& names = layer.names;
    names.attention_norms.before = names.ffn_norms.before = names.q_norm = names.k_norm = kUnweighted;
    names.up = prefix + "mlp.fc1";
    names.down = prefix + "mlp.fc2";
  }
  for (float& frequency : spec.ropes[0].frequencies) frequency = -frequency;
  const double cap =
      config.is_null("final_logit_softcapping") ? 0.0 : config.number("final_logit_softcapping", 15.0);
  if (!(cap >= 0)) config.refuse("final_logit_softcapping is {}", cap);
  spec.logit_softcap = static_cast<float>(cap);
  spec.names.embedding_norm = spec.names.final_norm = kUnweighted;
  return spec;
}

}  // namespace mote::convert
