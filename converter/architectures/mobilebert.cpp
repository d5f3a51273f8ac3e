// SPDX-License-Identifier: Apache-2.0
//
// MobileBERT (Sun et al. 2020): layers that work in a narrower width than the residual stream's, with several
// feed-forwards each, and norms that are a factor and a bias alone.
#include <fmt/format.h>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

struct MobileLayer {
  uint32_t inner_width, ffn_width, ffns;
  Activation activation;
};

void build_mobile_layer(const MobileLayer& spec, TransformerBuilder& builder, const LayerSpec& layer) {
  const std::string prefix = prefix_of(layer), source = of_layer(layer.names.o, layer);
  const View x = builder.x();
  const auto of_width = [&](uint32_t width) { return builder.new_value(width, Unit::token); };
  const auto bottleneck = [&](const std::string& name, const char* label) {
    const View out = of_width(spec.inner_width);
    builder.linear(prefix + label, source + name + ".dense", Role::matrix, x, out, Activation::none, true);
    builder.norm(prefix + label + "_norm", source + name + ".LayerNorm", out, out);
    return out;
  };
  /// to = norm(dense(from) + to).
  const auto add = [&](const std::string& name, const std::string& label, View from, View to) {
    BlockInput input{from};
    builder.linears(
        prefix, input,
        {builder.projection(label, source + name + ".dense", to.width, from.width, Role::matrix, true)}, to,
        Activation::none, to);
    builder.norm(prefix + label + "_norm", source + name + ".LayerNorm", to, to);
  };
  const View inner = bottleneck("bottleneck.input", "input"),
             shared = bottleneck("bottleneck.attention", "shared");
  const View q = of_width(spec.inner_width), k = of_width(spec.inner_width), v = of_width(spec.inner_width);
  const std::string attention = source + "attention.self.";
  builder.linear(prefix + "q", attention + "query", Role::matrix, shared, q, Activation::none, true);
  builder.linear(prefix + "k", attention + "key", Role::matrix, shared, k, Activation::none, true);
  builder.linear(prefix + "v", attention + "value", Role::matrix, x, v, Activation::none, true);
  add("attention.output", "o", builder.attend_heads(layer, q, k, v), inner);
  for (uint32_t i = 0; i < spec.ffns; ++i) {
    const bool last = i + 1 == spec.ffns;
    const std::string name = last ? "" : fmt::format("ffn.{}.", i), number = fmt::format(".{}", i);
    const View up = of_width(spec.ffn_width);
    builder.linear(prefix + "up" + number, source + name + "intermediate.dense", Role::matrix, inner, up,
                   spec.activation, true);
    add(name + "output", "down" + number, up, inner);
  }
  add("output.bottleneck", "output", inner, x);
}

}  // namespace

TransformerSpec read_mobilebert(const Source& source, Config& config) {
  const std::string base = base_of(source, "mobilebert.");
  TransformerSpec spec = read_encoder(source, config, {30522, 512, 512});
  spec.embedding_width = config.size("embedding_size", 1, kMaxSize, 128);
  spec.token_types = config.size("type_vocab_size", 1, kMaxSize, 2);
  const std::string norm = config.text("normalization_type", "no_norm");
  if (norm != "no_norm") config.refuse("normalization_type {} is not supported, only no_norm is", norm);
  spec.norm = NormKind::affine;
  for (const char* key : {"use_bottleneck", "key_query_shared_bottleneck", "trigram_input"})
    require_flag(config, key, true);
  require_flag(config, "use_bottleneck_attention", false);

  MobileLayer own{};
  own.inner_width = config.size("intra_bottleneck_size", 1, kMaxSize, 128);
  if (config.size("true_hidden_size", 1, kMaxSize, own.inner_width) != own.inner_width)
    config.refuse("true_hidden_size is not intra_bottleneck_size");
  own.ffn_width = config.size("intermediate_size", 1, kMaxSize, 512);
  own.ffns = config.size("num_feedforward_networks", 1, kMaxLayers, 4);
  own.activation = read_activation(config, "hidden_act", "relu");
  LayerSpec layer;
  layer.attention = equal_heads(config, own.inner_width, config.size("num_attention_heads", 1, kMaxSize, 4),
                                "intra_bottleneck_size", "num_attention_heads");
  layer.names.o = base + "encoder.layer.{}.";
  layer.build = [own](TransformerBuilder& builder, const LayerSpec& spec_of_layer) {
    build_mobile_layer(own, builder, spec_of_layer);
  };
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 24));

  spec.trigrams = spec.positions_after_projection = true;
  set_bert_embeddings(base, spec.names);
  spec.names.embedding_projection = base + "embeddings.embedding_transformation";
  HeadNames names = bert_heads(base, spec);
  if (!config.flag("classifier_activation", true)) {  // the pooler is the first token as it is
    names.pooler.clear();
    names.classifier = {};
  }
  set_bert_masked(spec, names);
  names.masked.activation = own.activation;
  names.masked.layer_norm = true;
  read_head(source, config, names, spec);
  if (spec.head.kind == OutputKind::masked_token && spec.width > spec.embedding_width)
    spec.head.output_rest = "cls.predictions.dense";
  return spec;
}

}  // namespace mote::convert
