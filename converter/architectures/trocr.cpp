// SPDX-License-Identifier: Apache-2.0
//
// TrOCR (Li et al. 2021): a vision transformer and the decoder of BART, which reads a line of text.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/bart.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "converter/architectures/shared/vision_language.h"
#include "host/base/error.h"

namespace mote::convert {

TransformerSpec read_vit(const Source& source, Config& config);
TransformerSpec read_deit(const Source& source, Config& config);

namespace {

constexpr uint32_t kTrocrOffset = 2;  // of positions

TransformerSpec read_trocr_encoder(const Source& source, Config& config) {
  Source own;
  own.format = source.format;
  own.directory = source.directory;
  own.tensors = source.tensors;
  own.base = "encoder.";
  const std::string type = config.text("model_type");
  if (type != "vit" && type != "deit")
    config.refuse("model_type {} is not supported, vit and deit are", type);
  return type == "vit" ? read_vit(own, config) : read_deit(own, config);
}

TransformerSpec read_trocr_decoder(Config& config) {
  if (config.text("model_type") != "trocr")
    config.refuse("model_type {} is not supported, trocr is", config.text("model_type"));
  const std::string base = "decoder.model.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 50265);
  spec.width = config.size("d_model", 1, kMaxSize, 1024);
  spec.context = config.size("max_position_embeddings", 1, 1u << 20, 512);
  set_layer_norms(1e-5, spec);
  spec.repeat(bart_layer(config, {false, "gelu"}, base, "decoder", spec.width),
              config.size("decoder_layers", 1, kMaxLayers, 12));
  if (config.flag("scale_embedding", false))
    spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  require_flag(config, "use_learned_position_embeddings", true);
  spec.first_position = kTrocrOffset;
  spec.position_rows = spec.context + kTrocrOffset;
  spec.names.positions = base + "decoder.embed_positions";
  spec.names.embedding = base + "decoder.embed_tokens";
  if (config.flag("layernorm_embedding", true))
    spec.names.embedding_norm = base + "decoder.layernorm_embedding";
  spec.names.head = "decoder.output_projection";
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  know(config,
       {"add_cross_attention", "decoder_layerdrop", "init_std", "is_decoder", "decoder_start_token_id",
        "classifier_dropout", "cross_attention_hidden_size", "num_hidden_layers", "hidden_size"});
  return spec;
}

}  // namespace

TransformerSpec read_trocr(const Source& source, Config& config) {
  Config pictures = config.inner(object_of_config(config, "encoder"), "encoder.");
  Config texts = config.inner(object_of_config(config, "decoder"), "decoder.");
  TransformerSpec encoder = read_trocr_encoder(source, pictures);
  pictures.finish();
  TransformerSpec spec = read_trocr_decoder(texts);
  texts.finish();
  if (source.tensors.count("enc_to_dec_proj.weight") != 0)
    config.refuse("enc_to_dec_proj: a projection between encoder and decoder is not supported");
  know(config, {"tie_word_embeddings", "processor_class", "encoder", "decoder"});
  spec.names.ignored_starts.emplace_back("encoder.pooler.");
  spec.names.ignored.emplace_back("embeddings.mask_token");
  set_encoder(config, std::move(encoder), spec);
  return spec;
}

}  // namespace mote::convert
