// SPDX-License-Identifier: Apache-2.0
//
// T5 (Raffel et al. 2019), its versions 1.1, mT5 and FLAN-T5, and umT5: an encoder and a decoder with rms
// norms, scores that are not scaled and a bias on them by distance, which the first layer has for all, and
// in umT5 every layer for itself.
#include <cmath>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "converter/architectures/shared/relative_bias.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

struct T5Kind {
  bool newer = false;        // whose config class has the sizes of mT5
  bool every_layer = false;  // has a bias of its own
  bool scales = true;        // tied logits, by the root of the width
};

struct T5Sizes {
  uint32_t width, heads, head_dim, layers, decoder_layers, vocab, context;
  FfnSpec ffn;
  float eps;
  RelativeBuckets buckets;
};

/// feed_forward_proj is "ACTIVATION" or "gated-ACTIVATION"; GELU with a gate is the one by tanh.
FfnSpec read_t5_ffn(Config& config, const char* absent, uint32_t absent_width) {
  const std::string gated = "gated-", kind = config.text("feed_forward_proj", absent);
  FfnSpec ffn;
  const bool has_gate = kind.starts_with(gated);
  ffn.kind = has_gate ? Ffn::gated : Ffn::plain;
  const std::string activation = has_gate ? kind.substr(gated.size()) : kind;
  const std::string meant = kind == "gated-gelu" ? "gelu_new" : activation;
  ffn.activation = read_activation(config, "dense_act_fn", meant);
  if (config.flag("is_gated_act", has_gate) != has_gate)
    config.refuse("is_gated_act contradicts feed_forward_proj {}", kind);
  ffn.width = config.size("d_ff", 1, kMaxSize, absent_width);
  return ffn;
}

T5Sizes read_t5_sizes(Config& config, bool newer) {
  T5Sizes sizes{};
  sizes.vocab = config.size("vocab_size", 1, kMaxSize, newer ? 250112 : 32128);
  sizes.width = config.size("d_model", 1, kMaxSize, 512);
  sizes.head_dim = config.size("d_kv", 1, kMaxHeadDim, 64);
  sizes.heads = config.size("num_heads", 1, kMaxSize, newer ? 6 : 8);
  if (uint64_t{sizes.heads} * sizes.head_dim > kMaxSize)
    config.refuse("{} heads of {}", sizes.heads, sizes.head_dim);
  sizes.layers = config.size("num_layers", 1, kMaxLayers, newer ? 8 : 6);
  sizes.decoder_layers =
      config.optional_size("num_decoder_layers", 1, kMaxLayers, sizes.layers).value_or(sizes.layers);
  sizes.context = config.size("n_positions", 1, 1u << 16, 512);
  sizes.ffn = read_t5_ffn(config, newer ? "gated-gelu" : "relu", newer ? 1024 : 2048);
  sizes.eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-6));
  sizes.buckets.count = config.size("relative_attention_num_buckets", 4, kMaxSize, 32);
  sizes.buckets.farthest = config.size("relative_attention_max_distance", 1, kMaxSize, 128);
  if (sizes.buckets.farthest <= sizes.buckets.count / 2)
    config.refuse("relative_attention_max_distance is {}", sizes.buckets.farthest);
  return sizes;
}

LayerSpec t5_layer(const T5Sizes& sizes, const std::string& side, bool decoder) {
  const std::string block = side + "block.{}.layer.";
  const auto attend = [&](const std::string& branch, const std::string& kind, LayerNames& names) {
    names.attention_norms.before = block + branch + ".layer_norm";
    const std::string prefix = block + branch + "." + kind + ".";
    names.q = prefix + "q";
    names.k = prefix + "k";
    names.v = prefix + "v";
    names.o = prefix + "o";
  };
  LayerSpec layer;
  layer.attention.heads = layer.attention.kv_heads = sizes.heads;
  layer.attention.head_dim = sizes.head_dim;
  layer.ffn = sizes.ffn;
  attend("0", "SelfAttention", layer.names);
  if (decoder) {
    LayerSpec cross = layer;
    attend("1", "EncDecAttention", cross.names);
    set_cross(std::move(cross), layer);
  }
  const std::string ffn = block + (decoder ? "2" : "1");
  const bool gated = sizes.ffn.kind == Ffn::gated;
  layer.names.ffn_norms.before = ffn + ".layer_norm";
  if (gated) layer.names.gate = ffn + ".DenseReluDense.wi_0";
  layer.names.up = ffn + (gated ? ".DenseReluDense.wi_1" : ".DenseReluDense.wi");
  layer.names.down = ffn + ".DenseReluDense.wo";
  return layer;
}

TransformerSpec t5_side(const Source& source, const T5Sizes& sizes, bool decoder, bool every_layer) {
  TransformerSpec spec{};
  const std::string side = decoder ? "decoder." : "encoder.";
  spec.vocab = sizes.vocab;
  spec.width = sizes.width;
  spec.context = sizes.context;
  spec.norm_eps = sizes.eps;
  spec.repeat(t5_layer(sizes, side, decoder), decoder ? sizes.decoder_layers : sizes.layers);
  RelativeBuckets buckets = sizes.buckets;
  buckets.both_sides = !decoder;
  for (uint32_t i = 0; i < spec.layers.size(); ++i) {
    spec.layers[i].attention.bias = every_layer ? i : 0;
    if (i != 0 && !every_layer) continue;
    const std::string table =
        fmt::format("{}block.{}.layer.0.SelfAttention.relative_attention_bias.weight", side, i);
    spec.attention_biases.push_back(relative_bias(source, table, sizes.heads, sizes.context, buckets));
  }
  spec.names.final_norm = side + "final_layer_norm";
  return spec;
}

/// T5EncoderModel: its token vectors, or what sentence-transformers makes of them.
TransformerSpec t5_encoder(const Source& source, Config& config, const T5Sizes& sizes, bool every_layer) {
  TransformerSpec spec = t5_side(source, sizes, false, every_layer);
  spec.names.embedding = first_tensor(source, {"shared", "encoder.embed_tokens"});
  know(config, {"is_encoder_decoder", "decoder_start_token_id", "scale_decoder_outputs", "dropout_rate",
                "classifier_dropout_rate", "classifier_dropout", "initializer_factor"});
  HeadNames names;
  read_head(source, config, names, spec);
  spec.names.ignored = {"embed_tokens.weight", "SelfAttention.relative_attention_bias.weight"};
  return spec;
}

bool is_t5_encoder(Config& config) {
  const nlohmann::json* classes = config.value("architectures");
  return classes != nullptr && classes->is_array() && !classes->empty() && classes->front().is_string() &&
         classes->front().get<std::string>().ends_with("EncoderModel");
}

TransformerSpec read_t5_like(const Source& source, Config& config, const T5Kind& kind) {
  const T5Sizes sizes = read_t5_sizes(config, kind.newer);
  if (is_t5_encoder(config)) return t5_encoder(source, config, sizes, kind.every_layer);
  TransformerSpec spec = t5_side(source, sizes, true, kind.every_layer);
  TransformerSpec encoder = t5_side(source, sizes, false, kind.every_layer);
  const bool tied = config.flag("tie_word_embeddings", true);
  if (kind.scales && config.flag("scale_decoder_outputs", tied))
    spec.logit_multiplier = 1.0f / std::sqrt(static_cast<float>(sizes.width));
  spec.tied_embedding = source.tensors.count("lm_head.weight") == 0 || tied;
  spec.names.head = "lm_head";
  spec.names.embedding =
      first_tensor(source, {"shared", "decoder.embed_tokens", "encoder.embed_tokens", "lm_head"});
  encoder.names.embedding = spec.names.embedding;
  spec.names.ignored = {"embed_tokens.weight", "SelfAttention.relative_attention_bias.weight",
                        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
  set_encoder(config, std::move(encoder), spec);
  if (kind.newer && !config.has("decoder_start_token_id")) spec.bos_id = 0;
  return spec;
}

}  // namespace

TransformerSpec read_t5(const Source& source, Config& config) { return read_t5_like(source, config, {}); }

TransformerSpec read_mt5(const Source& source, Config& config) {
  return read_t5_like(source, config, {.newer = true, .every_layer = false, .scales = false});
}

TransformerSpec read_umt5(const Source& source, Config& config) {
  return read_t5_like(source, config, {.newer = true, .every_layer = true, .scales = true});
}

}  // namespace mote::convert
