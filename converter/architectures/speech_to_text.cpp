// SPDX-License-Identifier: Apache-2.0
//
// Speech to text of fairseq (Wang et al. 2020): gated convolutions over mel features, then an encoder and a
// decoder as BART's whose norms come first and whose positions are sines.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/bart.h"
#include "converter/architectures/shared/encoder_decoder.h"
#include "converter/architectures/shared/filter_bank.h"
#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/wav2vec2.h"
#include "converter/layers/sound_stem.h"
#include "converter/readers/processor_config.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kGatedStride = 2;
const char* const kExtractor = "Speech2TextFeatureExtractor";

struct GatedStem {
  std::vector<TimeConv> convs;  // of twice the columns that are left after the gate
  uint32_t bins;
  float scale;
  std::vector<float> positions;  // [rows, width]; empty: none
};

View build_gated_stem(TransformerBuilder& builder, const GatedStem& stem) {
  View x = builder.input(stem.bins);
  for (size_t i = 0; i < stem.convs.size(); ++i) {
    const TimeConv& conv = stem.convs[i];
    const View both = time_conv(builder, fmt::format("stem.conv.{}", i), conv, x, Activation::none);
    const View value = columns(both, 0, conv.width / 2);
    builder.add(GateNode{Activation::sigmoid, columns(both, value.width, value.width), value, value});
    x = value;
  }
  builder.scale(x, stem.scale);
  if (stem.positions.empty()) return x;
  const uint32_t rows = static_cast<uint32_t>(stem.positions.size() / x.width);
  builder.add(PositionsNode{
      builder.add_weight({"positions", DType::f32, true, rows, x.width, {}, stem.positions}), x});
  return x;
}

TransformerSpec speech_side(Config& config, const std::string& side, uint32_t layers) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 10000);
  spec.width = config.size("d_model", 4, kMaxSize, 256);
  if (spec.width % 2 != 0) config.refuse("d_model is {}", spec.width);
  set_layer_norms(1e-5, spec);
  spec.repeat(bart_layer(config, {true, "relu", 4, 2048}, "model.", side, spec.width),
              config.size(side + "_layers", 1, kMaxLayers, layers));
  spec.names.final_norm = "model." + side + ".layer_norm";
  return spec;
}

/// `context` becomes how many rows the convolutions leave of so many frames.
GatedStem read_gated_stem(Config& config, uint32_t width, uint32_t& context) {
  GatedStem stem;
  const uint32_t count = config.size("num_conv_layers", 1, 64, 2);
  const std::vector<uint32_t> taps = read_conv_sizes(config, "conv_kernel_sizes", {5, 5});
  const uint32_t inner = config.size("conv_channels", 2, kMaxSize, 1024);
  if (taps.size() != count || inner % 2 != 0)
    config.refuse("{} conv_kernel_sizes for {} convolutions of {} channels", taps.size(), count, inner);
  stem.bins = config.size("input_feat_per_channel", 1, 4096, 80) * config.size("input_channels", 1, 64, 1);
  for (uint32_t i = 0; i < count; ++i) {
    if (taps[i] % 2 == 0) config.refuse("conv_kernel_sizes has the even size {}", taps[i]);
    stem.convs.push_back({fmt::format("model.encoder.conv.conv_layers.{}", i),
                          i + 1 < count ? inner : 2 * width, taps[i], kGatedStride, taps[i] / 2,
                          taps[i] / 2});
    context = (context - 1) / kGatedStride + 1;
  }
  return stem;
}

/// Takes what the extractor's settings say of features, where the source has them: Kaldi's filter banks.
void read_speech_features(const Source& source, uint32_t bins, SoundSpec& sound) {
  const auto settings = read_sound_settings(source);
  if (!settings) return;
  Config values(settings->keys, settings->where);
  if (values.text("feature_extractor_type", kExtractor) != kExtractor)
    values.refuse("feature_extractor_type is not {}", kExtractor);
  sound.bins = bins;
  read_filter_bank(values, 80, sound);
  if (values.number("dither", 0.0) != 0.0) values.refuse("dither adds noise, which is not supported");
  const bool normalizes = values.flag("do_ceptral_normalize", true);
  const bool means = values.flag("normalize_means", true), deviations = values.flag("normalize_vars", true);
  sound.features = SoundFeatures::normalized_filter_bank;
  sound.mean = normalizes && means ? 1.0f : 0.0f;
  sound.scale = normalizes && deviations ? 1.0f : 0.0f;
  values.finish();
  values.check_keys();
}

}  // namespace

TransformerSpec read_speech_to_text(const Source& source, Config& config) {
  TransformerSpec spec = speech_side(config, "decoder", 6), encoder = speech_side(config, "encoder", 12);
  const uint32_t width = spec.width;
  const float scale = config.flag("scale_embedding", true) ? std::sqrt(static_cast<float>(width)) : 1.0f;
  const int32_t padding = config.token_id("pad_token_id", spec.vocab, 1);
  if (padding < 0) config.refuse("pad_token_id is none, and positions begin behind it");
  const double step = std::log(10000.0) / (width / 2 - 1.0);
  const uint32_t first = static_cast<uint32_t>(padding) + 1;
  spec.context = config.size("max_target_positions", 1, 1u << 20, 1024);
  spec.position_table = bart_sines<float>(first, spec.context, width, step);
  spec.embedding_multiplier = scale;
  spec.names.embedding = "model.decoder.embed_tokens";
  spec.names.head = "lm_head";
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  encoder.context = config.size("max_source_positions", 1, 1u << 20, 6000);
  encoder.sound = SoundSpec{};
  encoder.sound->waveform = false;
  uint32_t rows = encoder.context;
  GatedStem stem = read_gated_stem(config, width, rows);
  stem.scale = scale;
  read_speech_features(source, stem.bins, *encoder.sound);
  // The original numbers rows by where a mask of zeros differs from the padding id: by none where that is 0.
  if (padding != 0) stem.positions = bart_sines<float>(first, rows, width, step);
  encoder.stem = [stem](TransformerBuilder& builder) { return build_gated_stem(builder, stem); };
  know(config, {"decoder_layerdrop", "encoder_layerdrop", "init_std", "max_length", "max_position_embeddings",
                "num_hidden_layers", "classifier_dropout", "early_stopping", "num_beams"});
  set_encoder(config, std::move(encoder), spec, 2);
  return spec;
}

}  // namespace mote::convert
