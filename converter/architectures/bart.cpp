// SPDX-License-Identifier: Apache-2.0
//
// BART (Lewis et al. 2019) and its relatives mBART, Marian, Pegasus and M2M-100 (NLLB too): an encoder and a
// decoder of layers with biases everywhere. They differ in where norms stand and in the positions.
#include "converter/architectures/bart.h"

#include <cmath>

#include "converter/architectures/shared/encoder_decoder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

enum class BartPositions : uint8_t {
  learned,          // from row 2 on
  sines,            // the angles of a row's columns in pairs, their sines before their cosines
  sines_after_pad,  // the same from the row behind the padding id's on, with another step
};

struct BartLike {
  const char* model_type;
  bool norms_before, embedding_norm, final_norm, scaled;
  BartPositions positions;
  uint32_t vocab;
  const char* activation;
  int32_t start_id, padding_id;
};

// clang-format off
constexpr BartLike kBartLike[] = {
    {"bart", false, true, false, false, BartPositions::learned, 50265, "gelu", 2, 1},
    {"mbart", true, true, true, false, BartPositions::learned, 50265, "gelu", -1, 1},
    {"marian", false, false, false, false, BartPositions::sines, 58101, "gelu", 58100, 58100},
    {"pegasus", true, false, true, false, BartPositions::sines, 50265, "gelu", 0, 0},
    {"m2m_100", true, false, true, true, BartPositions::sines_after_pad, 128112, "relu", 2, 1},
};
// clang-format on

constexpr uint32_t kLearnedOffset = 2;

}  // namespace

template <class Angle>
std::vector<float> bart_sines(uint32_t first, uint32_t rows, uint32_t width, double log_step) {
  charge_table({rows, width});
  const uint32_t half = width / 2, sines = width - half;
  std::vector<float> table(size_t{rows} * width);
  for (uint32_t row = 0; row < rows; ++row) {
    float* const out = table.data() + size_t{row} * width;
    for (uint32_t i = 0; i < sines; ++i) {
      const Angle frequency = std::exp(static_cast<Angle>(i) * -static_cast<Angle>(log_step));
      const Angle angle = static_cast<Angle>(first + row) * frequency;
      out[i] = static_cast<float>(std::sin(angle));
      if (i < half) out[sines + i] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}
template std::vector<float> bart_sines<float>(uint32_t, uint32_t, uint32_t, double);

namespace {

void set_bart_positions(const Source& source, Config& config, const BartLike& bart, const std::string& side,
                        TransformerSpec& spec) {
  const std::string table = side + "embed_positions";
  const bool stored = source.tensors.count(table + ".weight") != 0;
  if (bart.positions == BartPositions::learned || stored) {
    spec.first_position = bart.positions == BartPositions::learned ? kLearnedOffset : 0;
    spec.position_rows = spec.context + spec.first_position;
    spec.names.positions = table;
    return;
  }
  spec.names.ignored.emplace_back("embed_positions.weights");
  if (spec.width < 4 || spec.width % 2 != 0) config.refuse("d_model is {}", spec.width);
  const double log_base = std::log(10000.0);
  if (bart.positions == BartPositions::sines) {
    spec.position_table = bart_sines<double>(0, spec.context, spec.width, log_base * 2 / spec.width);
    return;
  }
  const int32_t padding = config.token_id("pad_token_id", spec.vocab, bart.padding_id);
  if (padding < 0) config.refuse("pad_token_id is none, and positions begin behind it");
  spec.position_table = bart_sines<float>(static_cast<uint32_t>(padding) + 1, spec.context, spec.width,
                                          log_base / (spec.width / 2 - 1.0));
}

/// A branch's norm and the projections of its attention.
void name_bart_attention(const std::string& prefix, const std::string& name, bool before, LayerNames& names) {
  names.q = prefix + name + ".q_proj";
  names.k = prefix + name + ".k_proj";
  names.v = prefix + name + ".v_proj";
  names.o = prefix + name + ".out_proj";
  (before ? names.attention_norms.before : names.attention_norms.sum) = prefix + name + "_layer_norm";
}

}  // namespace

LayerSpec bart_layer(Config& config, const BartLayer& bart, const std::string& base, const std::string& side,
                     uint32_t width) {
  const std::string heads_key = side + "_attention_heads", prefix = base + side + ".layers.{}.";
  LayerSpec layer;
  layer.attention =
      equal_heads(config, width, config.size(heads_key, 1, kMaxSize, bart.heads), "d_model", heads_key);
  layer.ffn = {Ffn::plain, read_activation(config, "activation_function", bart.activation),
               config.size(side + "_ffn_dim", 1, kMaxSize, bart.ffn_width), true};
  name_bart_attention(prefix, "self_attn", bart.norms_before, layer.names);
  if (side == "decoder") {
    LayerSpec cross = layer;
    name_bart_attention(prefix, "encoder_attn", bart.norms_before, cross.names);
    set_cross(std::move(cross), layer);
  }
  LayerNames& names = layer.names;
  names.up = prefix + "fc1";
  names.down = prefix + "fc2";
  (bart.norms_before ? names.ffn_norms.before : names.ffn_norms.sum) = prefix + "final_layer_norm";
  return layer;
}

namespace {

TransformerSpec bart_side(const Source& source, Config& config, const BartLike& bart, const std::string& base,
                          const std::string& side) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, bart.vocab);
  spec.width = config.size("d_model", 1, kMaxSize, 1024);
  spec.context = config.size("max_position_embeddings", 1, 1u << 20, 1024);
  set_layer_norms(1e-5, spec);
  spec.repeat(bart_layer(config, {bart.norms_before, bart.activation}, base, side, spec.width),
              config.size(side + "_layers", 1, kMaxLayers, 12));
  if (config.flag("scale_embedding", bart.scaled))
    spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  const std::string prefix = base + side + ".";
  if (bart.embedding_norm) spec.names.embedding_norm = prefix + "layernorm_embedding";
  if (bart.final_norm) spec.names.final_norm = prefix + "layer_norm";
  set_bart_positions(source, config, bart, prefix, spec);
  return spec;
}

const BartLike& find_bart_like(Config& config) {
  const std::string type = config.text("model_type");
  for (const BartLike& bart : kBartLike) {
    if (type == bart.model_type) return bart;
  }
  config.refuse("model_type {} is none of BART's", type);
}

/// Keys that the original's classes leave unread, and those that are for training.
void skip_bart_keys(Config& config) {
  for (const char* key :
       {"encoder_layerdrop", "decoder_layerdrop", "init_std", "num_hidden_layers", "classif_dropout",
        "extra_pos_embeddings", "force_bos_token_to_be_generated", "static_position_embeddings",
        "add_bias_logits", "add_final_layer_norm", "normalize_before", "normalize_embedding",
        "do_blenderbot_90_layernorm", "max_length", "early_stopping", "no_repeat_ngram_size"}) {
    config.value(key);
  }
}

}  // namespace

TransformerSpec read_bart(const Source& source, Config& config) {
  const BartLike& bart = find_bart_like(config);
  const std::string base = base_of(source, "model.");
  TransformerSpec spec = bart_side(source, config, bart, base, "decoder");
  TransformerSpec encoder = bart_side(source, config, bart, base, "encoder");
  skip_bart_keys(config);
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  require_flag(config, "share_encoder_decoder_embeddings", true);
  const auto decoder_vocab = config.optional_size("decoder_vocab_size", 1, kMaxSize);
  if (decoder_vocab && *decoder_vocab != spec.vocab)
    config.refuse("decoder_vocab_size is {}, vocab_size {}: two vocabularies are not supported",
                  *decoder_vocab, spec.vocab);
  spec.names.head = "lm_head";
  spec.names.embedding = first_tensor(
      source, {base + "shared", base + "decoder.embed_tokens", base + "encoder.embed_tokens", "lm_head"});
  encoder.names.embedding = spec.names.embedding;
  if (source.tensors.count("final_logits_bias") != 0) spec.head.output_bias = "final_logits_bias";
  spec.names.ignored.emplace_back("embed_tokens.weight");
  set_encoder(config, std::move(encoder), spec, bart.start_id);
  return spec;
}

}  // namespace mote::convert
