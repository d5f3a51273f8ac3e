// SPDX-License-Identifier: Apache-2.0
//
// Whisper (Radford et al. 2022): two convolutions over log-mel features of 30 seconds, then an encoder and a
// decoder as BART's whose norms come first.
#include "converter/architectures/bart.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/shared/sound_settings.h"
#include "converter/architectures/wav2vec2.h"
#include "converter/layers/sound_stem.h"

namespace mote::convert {
namespace {

constexpr uint32_t kWhisperTaps = 3, kWhisperStride = 2;

/// `base` starts the names of weights.
TransformerSpec whisper_side(Config& config, const std::string& base, const std::string& side) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 51865);
  spec.width = config.size("d_model", 1, kMaxSize, 384);
  set_layer_norms(1e-5, spec);
  spec.optional_biases = true;  // keys have none
  LayerSpec layer = bart_layer(config, {true, "gelu", 6, 1536}, base, side, spec.width);
  layer.attention.qkv_bias = false;
  if (layer.cross) {
    LayerSpec cross = *layer.cross;
    cross.attention.qkv_bias = false;
    set_cross(std::move(cross), layer);
  }
  spec.repeat(layer, config.size(side + "_layers", 1, kMaxLayers, 4));
  spec.names.final_norm = base + side + ".layer_norm";
  return spec;
}

/// `base` starts the names of the encoder's weights.
ConvStem whisper_stem(const std::string& base, uint32_t bins, uint32_t width, uint32_t rows) {
  ConvStem stem;
  stem.convs = {{base + "conv1", width, kWhisperTaps, 1, 1, 1},
                {base + "conv2", width, kWhisperTaps, kWhisperStride, 1, 1}};
  stem.positions = base + "embed_positions.weight";
  stem.bins = bins;
  stem.rows = rows;
  return stem;
}

View build_whisper_stem(TransformerBuilder& builder, const ConvStem& stem) {
  View x = builder.input(stem.bins);
  for (size_t i = 0; i < stem.convs.size(); ++i)
    x = time_conv(builder, fmt::format("stem.conv.{}", i), stem.convs[i], x, stem.activation, Role::fine);
  std::vector<float> positions = builder.tensors().table(stem.positions, stem.rows, x.width);
  builder.add(PositionsNode{
      builder.add_weight({"positions", DType::f32, true, stem.rows, x.width, {}, std::move(positions)}), x});
  return x;
}

/// The encoder over the features of 30 seconds.
TransformerSpec whisper_encoder(const Source& source, Config& config, const std::string& base) {
  TransformerSpec encoder = whisper_side(config, base, "encoder");
  const uint32_t rows = config.size("max_source_positions", 1, 1u << 20, 1500);
  const uint32_t bins = config.size("num_mel_bins", 1, 4096, 80);
  encoder.context = kWhisperStride * rows;
  encoder.sound = SoundSpec{};
  encoder.sound->waveform = false;
  encoder.sound->frames = encoder.context;
  encoder.sound->bins = bins;
  encoder.sound->features = SoundFeatures::log_mel;
  encoder.sound->fft = 400;
  encoder.sound->hop = 160;
  check_whisper_settings(source, *encoder.sound);
  const ConvStem stem = whisper_stem(base + "encoder.", bins, encoder.width, rows);
  encoder.conv_stem = std::make_shared<const ConvStem>(stem);
  encoder.stem = [stem](TransformerBuilder& builder) { return build_whisper_stem(builder, stem); };
  know_spec_augment(config);
  know(config,
       {"begin_suppress_tokens", "classifier_proj_size", "decoder_layerdrop", "encoder_layerdrop",
        "forced_decoder_ids", "init_std", "max_length", "max_position_embeddings", "median_filter_width",
        "num_hidden_layers", "scale_embedding", "suppress_tokens", "use_weighted_layer_sum"});
  return encoder;
}

/// The encoder alone, with labels of a whole sound.
TransformerSpec read_whisper_labels(const Source& source, Config& config) {
  TransformerSpec spec = whisper_encoder(source, config, "");
  spec.vocab = 1;
  spec.tied_embedding = false;
  spec.without_tokenizer = true;
  know(config, {"decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", "decoder_start_token_id",
                "max_target_positions", "vocab_size", "is_encoder_decoder", "label2id"});
  read_sound_labels(source, config, spec);
  sum_layers(config, spec);
  return spec;
}

}  // namespace

TransformerSpec read_whisper(const Source& source, Config& config) {
  if (task_of(config) == "ForAudioClassification") return read_whisper_labels(source, config);
  TransformerSpec spec = whisper_side(config, "model.", "decoder"),
                  encoder = whisper_encoder(source, config, "model.");
  spec.context = spec.position_rows = config.size("max_target_positions", 1, 1u << 20, 448);
  spec.names.embedding = "model.decoder.embed_tokens";
  spec.names.positions = "model.decoder.embed_positions";
  spec.names.head = "proj_out";
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  set_encoder(config, std::move(encoder), spec, 50257);
  return spec;
}

}  // namespace mote::convert
