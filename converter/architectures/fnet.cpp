// SPDX-License-Identifier: Apache-2.0
//
// FNet (Lee-Thorp et al. 2021): BERT with the real part of a Fourier transform over tokens and columns in the
// place of attention. That over columns is a linear, that over tokens an operation of its own.
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

/// Rows of cosines, then of negative sines: the transform of real columns, as real and imaginary parts.
std::vector<float> transform_of_columns(uint32_t width) {
  charge_table({2, width, width});
  std::vector<float> rows(2 * size_t{width} * width);
  for (size_t i = 0; i < width; ++i) {
    for (size_t j = 0; j < width; ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i * j % width) / width;
      rows[i * width + j] = static_cast<float>(std::cos(angle));
      rows[(width + i) * width + j] = static_cast<float>(-std::sin(angle));
    }
  }
  return rows;
}

/// `transform`: the weight of all layers.
void build_fnet_layer(std::optional<int32_t>& transform, TransformerBuilder& builder,
                      const LayerSpec& layer) {
  const View x = builder.x(), parts = builder.new_value(2 * x.width, Unit::token);
  const View mixed = builder.new_value(x.width, Unit::token);
  if (layer.weights == 0) {  // in f32: cosines rounded to few bits would turn every value
    WeightPart part =
        builder.tensors().computed("fourier", parts.width, x.width, transform_of_columns(x.width));
    transform = builder.add_matrix("fourier", DType::f32, false, x.width, {std::move(part)});
  }
  builder.add(LinearNode{*transform, -1, Activation::none, x, parts, std::nullopt});
  builder.add(FourierNode{parts, mixed});
  builder.add_output(layer, layer.names.attention_norms, "fourier", mixed);
  builder.ffn(layer);
}

}  // namespace

TransformerSpec read_fnet(const Source& source, Config& config) {
  const std::string base = base_of(source, "fnet.");
  TransformerSpec spec = read_encoder(source, config, {32000, 768, 512});
  spec.token_types = config.size("type_vocab_size", 1, kMaxSize, 4);
  require_flag(config, "use_tpu_fourier_optimizations", false);
  config.value("tpu_short_seq_length");
  config.value("num_attention_heads");  // of configs made for BERT; there are none

  LayerSpec layer;
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", "gelu_new"),
               config.size("intermediate_size", 1, kMaxSize, 3072), true};
  const std::string prefix = base + "encoder.layer.{}.";
  layer.names.attention_norms.sum = prefix + "fourier.output.LayerNorm";
  layer.names.up = prefix + "intermediate.dense";
  layer.names.down = prefix + "output.dense";
  layer.names.ffn_norms.sum = prefix + "output.LayerNorm";
  const auto transform = std::make_shared<std::optional<int32_t>>();
  layer.build = [transform](TransformerBuilder& builder, const LayerSpec& own) {
    build_fnet_layer(*transform, builder, own);
  };
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));

  set_bert_embeddings(base, spec.names);
  spec.names.embedding_projection = base + "embeddings.projection";
  HeadNames heads = bert_heads(base, spec);
  set_bert_masked(spec, heads);
  read_head(source, config, heads, spec);
  return spec;
}

}  // namespace mote::convert
