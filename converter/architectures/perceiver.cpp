// SPDX-License-Identifier: Apache-2.0
//
// Perceiver (Jaegle et al. 2021) for masked texts: a fixed number of learned rows attends to the tokens, then
// to itself in each layer; in the end a learned query for each position attends to it.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

constexpr uint32_t kDecoderHeads = 8, kDecoderKeys = 256;  // whatever the config says
constexpr float kPerceiverEps = 1e-5f;                     // of all norms, whatever the config says

/// An attention and a feed-forward. Widths are of all heads together.
struct PerceiverBlock {
  std::string label, source;
  uint32_t heads, keys, values, ffn;
  uint32_t state;       // that keeps its keys and values
  bool of_own_rows;     // keys are of the rows whose queries see them, and have no norm of their own
  bool adds_to_hidden;  // the attention's output
  Activation activation;
};

uint32_t add_state(TransformerBuilder& builder, const PerceiverBlock& block, uint32_t ratio) {
  Cache state{block.heads, block.keys / block.heads, 0, true, block.values / block.heads, ratio};
  return builder.add_state(state);
}

void block_linear(TransformerBuilder& builder, const PerceiverBlock& block, const char* label,
                  const std::string& name, View in, View out, Activation activation = Activation::none) {
  builder.linear(block.label + label, block.source + name, Role::matrix, in, out, activation, true);
}

/// Stores keys and values of rows that have their norm.
void keep(TransformerBuilder& builder, const PerceiverBlock& block, View rows) {
  const View k = builder.new_value(block.keys, Unit::token), v = builder.new_value(block.values, Unit::token);
  block_linear(builder, block, "k", "attention.self.key", rows, k);
  block_linear(builder, block, "v", "attention.self.value", rows, v);
  builder.add(KvStoreNode{block.state, k, v});
}

/// Stores keys and values, as keep() does, of `rows` of another kind than the queries.
void keep_others(TransformerBuilder& builder, const PerceiverBlock& block, View rows) {
  const View normed = builder.new_value(rows.width, Unit::token);
  builder.norm(block.label + "keys_norm", block.source + "attention.self.layernorm2", rows, normed);
  keep(builder, block, normed);
}

View attend(TransformerBuilder& builder, const PerceiverBlock& block, View hidden) {
  const View normed = builder.new_value(hidden.width, Unit::token);
  builder.norm(block.label + "norm", block.source + "attention.self.layernorm1", hidden, normed);
  const View q = builder.new_value(block.keys, Unit::token),
             heads = builder.new_value(block.values, Unit::token);
  block_linear(builder, block, "q", "attention.self.query", normed, q);
  if (block.of_own_rows) keep(builder, block, normed);
  const auto scale = static_cast<float>(1.0 / std::sqrt(block.keys / block.heads));
  builder.add(AttentionNode{block.state, block.heads, scale, q, heads});
  const View out = builder.new_value(hidden.width, Unit::token);
  block_linear(builder, block, "o", "attention.output.dense", heads, out);
  if (block.adds_to_hidden) builder.add(ScaleRowsNode{out, out, -1, 1.0f, hidden});

  const View inner = builder.new_value(block.ffn, Unit::token);
  builder.norm(block.label + "ffn_norm", block.source + "layernorm", out, normed);
  block_linear(builder, block, "up", "mlp.dense1", normed, inner, block.activation);
  block_linear(builder, block, "down", "mlp.dense2", inner, normed);
  builder.add(ScaleRowsNode{normed, out, -1, 1.0f, out});
  return out;
}

/// Learned rows, by their position.
View learned(TransformerBuilder& builder, const std::string& label, const std::string& source, uint32_t rows,
             uint32_t width) {
  WeightPart part = builder.tensors().matrix(source, rows, width, false);
  const DType dtype = builder.policy().dtype(Role::positions, *part.tensor);
  const View out = builder.new_value(width, Unit::token);
  builder.add(PositionsNode{builder.add_matrix(label, dtype, true, width, {std::move(part)}), out,
                            RowIndex::position, true});
  return out;
}

/// A key that is null where another width stands for it.
uint32_t channels(Config& config, const char* key, uint32_t otherwise, uint32_t heads) {
  const uint32_t width = config.optional_size(key, 1, kMaxSize).value_or(otherwise);
  if (width % heads != 0) config.refuse("{} {} is not a multiple of {} heads", key, width, heads);
  if (width / heads > kMaxHeadDim)
    config.refuse("heads of {}, at most {} are supported", width / heads, kMaxHeadDim);
  return width;
}

/// Heads and widths of a kind of the encoder's blocks; `otherwise` is the keys' width where there is no key.
PerceiverBlock read_block(Config& config, const std::string& kind, uint32_t otherwise, uint32_t width) {
  PerceiverBlock block{};
  block.heads = config.size("num_" + kind + "_attention_heads", 1, kMaxSize, 8);
  block.keys = channels(config, "qk_channels", otherwise, block.heads);
  block.values = channels(config, "v_channels", block.keys, block.heads);
  block.ffn = width * config.size(kind + "_attention_widening_factor", 1, 64, 1);
  return block;
}

}  // namespace

TransformerSpec read_perceiver(const Source& source, Config& config) {
  const std::string base = "perceiver.";
  if (task_of(config) != "ForMaskedLM") config.refuse("of Perceiver PerceiverForMaskedLM is supported only");
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 262);
  spec.embedding_width = config.size("d_model", kDecoderHeads, kMaxSize, 768);
  spec.width = config.size("d_latents", 1, kMaxSize, 1280);
  const uint32_t latents = config.size("num_latents", 1, kMaxSize, 256);
  set_positions(source, config, config.size("max_position_embeddings", 1, kMaxSize, 2048), 0, spec);
  if (latents > spec.context) config.refuse("{} latents, more than {} positions", latents, spec.context);
  if (spec.embedding_width % kDecoderHeads != 0)
    config.refuse("d_model {} is not a multiple of {} heads", spec.embedding_width, kDecoderHeads);
  set_layer_norms(kPerceiverEps, spec);
  for (const char* unused :
       {"layer_norm_eps", "image_size", "train_size", "num_frames", "audio_samples_per_frame",
        "samples_per_patch", "output_shape", "output_num_channels", "_label_trainable_num_channels"})
    config.value(unused);
  config.flag("tie_word_embeddings", true);

  const uint32_t width = spec.width, token_width = spec.embedding_width, context = spec.context;
  const Activation activation = read_activation(config, "hidden_act", "gelu");
  const std::string shape = config.text("cross_attention_shape_for_attention", "kv");
  if (shape != "kv" && shape != "q") config.refuse("cross_attention_shape_for_attention {}", shape);
  PerceiverBlock cross = read_block(config, "cross", shape == "kv" ? token_width : width, width);
  cross.label = "encoder.";
  cross.source = base + "encoder.cross_attention.";
  cross.adds_to_hidden = config.flag("use_query_residual", true);
  cross.activation = activation;
  PerceiverBlock self = read_block(config, "self", width, width);
  self.source = base + "encoder.self_attends.";
  self.of_own_rows = self.adds_to_hidden = true;
  self.activation = activation;
  const PerceiverBlock decoder{"decoder.",
                               base + "decoder.decoding_cross_attention.",
                               kDecoderHeads,
                               kDecoderKeys,
                               token_width,
                               token_width,
                               0,
                               false,
                               false,
                               activation};

  spec.stem = [=](TransformerBuilder& builder) {
    builder.embed_ids();
    PerceiverBlock block = cross;
    block.state = add_state(builder, block, 1);
    keep_others(builder, block, builder.x());
    builder.enter_fixed(latents);
    return attend(builder, block, learned(builder, "latents", base + "embeddings.latents", latents, width));
  };
  const auto state =
      std::make_shared<std::optional<uint32_t>>();  // of all layers, each of which stores its own
  LayerSpec layer;
  layer.build = [=](TransformerBuilder& builder, const LayerSpec& own) {
    PerceiverBlock block = self;
    if (own.weights == 0) *state = add_state(builder, block, 0);
    block.state = **state;
    block.label = fmt::format("layer.{}.", own.weights);
    block.source += fmt::format("{}.", own.weights);
    builder.set_x(attend(builder, block, builder.x()));
  };
  const uint32_t per_block = config.size("num_self_attends_per_block", 1, kMaxLayers, 26);
  const uint32_t blocks = config.size("num_blocks", 1, kMaxLayers, 1);
  if (blocks != 1) config.refuse("num_blocks is {}, only 1 is supported", blocks);
  spec.repeat(layer, per_block);
  spec.before_head = [=](TransformerBuilder& builder, View x) {
    PerceiverBlock block = decoder;
    block.state = add_state(builder, block, 0);
    keep_others(builder, block, x);
    builder.enter_tokens();
    return attend(builder, block,
                  learned(builder, "queries", base + "decoder.output_position_encodings.position_embeddings",
                          context, token_width));
  };

  spec.names.embedding = base + "input_preprocessor.embeddings";
  spec.names.positions = base + "input_preprocessor.position_embeddings";
  spec.tied_embedding = true;
  spec.last_hidden_unnormed = true;
  spec.head.kind = OutputKind::masked_token;
  spec.head.output = "embedding_decoder";
  spec.head.output_bias = "embedding_decoder.bias";
  return spec;
}

}  // namespace mote::convert
