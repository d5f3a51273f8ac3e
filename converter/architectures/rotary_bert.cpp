// SPDX-License-Identifier: Apache-2.0
//
// BERT with RoPE instead of a table of positions, as three embedding models have it: NomicBERT (Nussbaum et
// al. 2024), Jina Embeddings v3 (Sturua et al. 2024) and mGTE (Zhang et al. 2024). Weights have the names of
// their first publication. Jina Reranker v2 is the second one with a table of positions.
#include <cmath>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/encoder_blocks.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Reads a config as read_bert_like does, with RoPE of the config or of the class's theta.
TransformerSpec read_rotary(const Source& source, Config& config, const std::string& base,
                            const BertDefaults& defaults, double theta) {
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  AttentionSpec attention = spec.layers[0].attention;
  attention.head_dim = config.optional_size("head_dim", 1, kMaxHeadDim).value_or(attention.head_dim);
  attention.scale = static_cast<float>(1.0 / std::sqrt(attention.head_dim));
  attention.rope = 0;
  for (LayerSpec& layer : spec.layers) layer.attention = attention;
  spec.names.positions.clear();
  spec.ropes = {read_rope_or(config, attention.head_dim, spec.context, theta)};
  return spec;
}

/// Names of a layer's linears and norms below one prefix; `up` null: the layer builds that part itself.
struct FusedNames {
  const char *qkv, *o, *attention_norm, *up, *down, *ffn_norm;
};
LayerNames fused_names(const std::string& prefix, const FusedNames& names) {
  LayerNames layer;
  layer.qkv = prefix + names.qkv;
  layer.o = prefix + names.o;
  layer.attention_norms.sum = prefix + names.attention_norm;
  if (names.up != nullptr) layer.up = prefix + names.up;
  layer.down = prefix + names.down;
  layer.ffn_norms.sum = prefix + names.ffn_norm;
  return layer;
}

}  // namespace

TransformerSpec read_nomic_bert(const Source& source, Config& config) {
  const std::string base = base_of(source, "nomic_bert.");
  BertDefaults defaults{.vocab = 30528, .activation = "silu", .context = 2048};
  TransformerSpec spec = read_rotary(source, config, base, defaults, 1000.0);
  spec.names.embedding_norm = base + "emb_ln";
  const std::string prefix = base + "encoder.layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = false;
    layer.ffn.kind = Ffn::gated;
    layer.ffn.bias = false;
    layer.names =
        fused_names(prefix, {"attn.Wqkv", "attn.out_proj", "norm1", "mlp.fc11", "mlp.fc2", "norm2"});
    layer.names.gate = prefix + "mlp.fc12";
  }
  HeadNames names = bert_heads(base, spec);
  set_bert_masked(spec, names);
  read_head(source, config, names, spec);
  return spec;
}

TransformerSpec read_jina_embeddings_v3(const Source& source, Config& config) {
  const std::string base = base_of(source, "roberta.");
  const BertDefaults defaults{250002, 1024, 16, 4096, "gelu", 8194, 1, 1e-5};
  const bool learned = source.tensors.count(base + "embeddings.position_embeddings.weight") != 0;
  TransformerSpec spec = learned ? read_bert_like(source, config, base, defaults)
                                 : read_rotary(source, config, base, defaults, 20000.0);
  if (learned)
    set_positions(source, config, spec.position_rows, config.size("pad_token_id", 0, kMaxSize, 1) + 1, spec);
  spec.names.embedding_norm = base + "emb_ln";
  const std::string prefix = base + "encoder.layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.names =
        fused_names(prefix, {"mixer.Wqkv", "mixer.out_proj", "norm1", "mlp.fc1", "mlp.fc2", "norm2"});
  }
  read_head(source, config, roberta_heads(base, spec.width), spec);
  return spec;
}

TransformerSpec read_gte(const Source& source, Config& config) {
  const std::string old_base = base_of(source, "new.");
  const std::string base = old_base.empty() ? base_of(source, "gte.") : old_base;
  const BertDefaults defaults{.vocab = 250048, .context = 8192, .token_types = 1};
  TransformerSpec spec = read_rotary(source, config, base, defaults, 160000.0);
  const std::string prefix = base + "encoder.layer.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.ffn.kind = Ffn::gated;
    layer.names = fused_names(
        prefix, {"attention.qkv_proj", "attention.o_proj", "attn_ln", nullptr, "mlp.down_proj", "mlp_ln"});
    layer.build = [source = prefix + "mlp.up_gate_proj"](TransformerBuilder& builder, const LayerSpec& own) {
      builder.attention(own);
      add_fused_ffn(builder, own, source, FusedHalf::second);
    };
  }
  HeadNames names = bert_heads(base, spec);
  names.masked = {"lm_head.dense", "lm_head.norm", Activation::gelu, spec.width};
  names.vocabulary = "lm_head.decoder";
  names.vocabulary_bias = "lm_head.decoder.bias";
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
