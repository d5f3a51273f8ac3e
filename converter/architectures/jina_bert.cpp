// SPDX-License-Identifier: Apache-2.0
//
// JinaBERT (Günther et al. 2023, Jina Embeddings v2): BERT whose scores fall with the distance of key and
// query on both sides (ALiBi) instead of learned positions, with gated feed-forwards whose gate and up are
// one matrix; and its form for code (Jina Embeddings v2 for code), with more norms.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/encoder_blocks.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// [heads, 2 context - 1] by key - query + context - 1.
std::vector<float> symmetric_slopes(uint32_t heads, uint32_t context) {
  charge_table({heads, 2, context});
  std::vector<float> biases;
  biases.reserve(size_t{heads} * (2 * size_t{context} - 1));
  for (const float slope : alibi_slopes(heads)) {
    for (int64_t distance = 1 - int64_t{context}; distance < int64_t{context}; ++distance)
      biases.push_back(-slope * static_cast<float>(std::abs(distance)));
  }
  return biases;
}

/// The config without the kind of positions, which BERT's relatives have learned ones of.
nlohmann::json without_positions(Config& config) {
  const std::string kind = config.text("position_embedding_type", "absolute");
  if (kind != "alibi") config.refuse("position_embedding_type {} is not supported here, only alibi is", kind);
  nlohmann::json keys = config.json();
  keys.erase("position_embedding_type");
  return keys;
}

Activation gate_activation(Config& config) {
  const std::string type = config.text("feed_forward_type", "original");
  if (type != "geglu" && type != "reglu")
    config.refuse("feed_forward_type {} is not supported, geglu and reglu are", type);
  return type == "geglu" ? Activation::gelu : Activation::relu;
}

/// The model for code: norms of all heads' queries and keys, and x = norm(x + norm(x + attention(x))).
void set_code_layer(const std::string& prefix, LayerSpec& layer) {
  layer.names.q_norm = prefix + "attention.self.layer_norm_q";
  layer.names.k_norm = prefix + "attention.self.layer_norm_k";
  layer.attention.head_norm = HeadNorm::layer_whole;
  layer.names.down = prefix + "mlp.down_layer";
  layer.names.ffn_norms.sum = prefix + "layer_norm_2";
  BranchNorms again;
  again.sum = prefix + "layer_norm_1";
  layer.build = [again, up_gate = prefix + "mlp.up_gated_layer"](TransformerBuilder& builder,
                                                                 const LayerSpec& own) {
    const View before = builder.new_value(builder.x().width, Unit::token);
    builder.add(ScaleRowsNode{builder.x(), before, -1, 1.0f});
    builder.attention(own);
    builder.add_output(own, again, "again", before);
    add_fused_ffn(builder, own, up_gate, FusedHalf::second);
  };
}

}  // namespace

TransformerSpec read_jina_bert(const Source& source, Config& config) {
  const std::string base = base_of(source, "bert.");
  const nlohmann::json keys = without_positions(config);
  Config plain = config.inner(keys, "");
  TransformerSpec spec = read_bert_like(source, plain, base, {});
  know(config, {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                "hidden_act", "max_position_embeddings", "type_vocab_size", "layer_norm_eps"});
  spec.names.positions.clear();
  spec.attention_biases = {symmetric_slopes(spec.layers[0].attention.heads, spec.context)};
  const Activation activation = gate_activation(config);
  const std::string prefix = base + "encoder.layer.{}.", first = base + "encoder.layer.0.";
  const bool of_code = source.tensors.count(first + "mlp.up_gated_layer.weight") != 0;
  require_flag(config, "use_qk_norm", of_code);
  for (LayerSpec& layer : spec.layers) {
    layer.attention.bias = 0;
    layer.ffn.kind = Ffn::gated;
    layer.ffn.activation = activation;
    layer.names.up.clear();
    if (of_code) {
      set_code_layer(prefix, layer);
      continue;
    }
    layer.names.down = prefix + "mlp.wo";
    layer.names.ffn_norms.sum = prefix + "mlp.layernorm";
    layer.build = [gate = prefix + "mlp.gated_layers"](TransformerBuilder& builder, const LayerSpec& own) {
      builder.attention(own);
      add_fused_ffn(builder, own, gate, FusedHalf::first);
    };
  }
  HeadNames names = bert_heads(base, spec);
  set_bert_masked(spec, names);
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
