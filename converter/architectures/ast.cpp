// SPDX-License-Identifier: Apache-2.0
//
// AST (Gong et al. 2021): a vision transformer over squares of a spectrogram, with two learned rows before
// them, whose mean is classified.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/filter_bank.h"
#include "converter/layers/transformer_builder.h"
#include "converter/readers/processor_config.h"

namespace mote::convert {
namespace {

/// The squares' linear, and what learned rows and positions come to: squares before the first are 0, so their
/// rows of the table have the learned ones less the linear's bias.
View build_squares(TransformerBuilder& builder, const std::string& base, const SoundSpec& sound,
                   uint32_t rows, uint32_t width) {
  TensorSet& tensors = builder.tensors();
  const std::string source = base + "embeddings.patch_embeddings.projection";
  const uint32_t size = sound.patch * sound.patch;
  const std::vector<float> bias = tensors.vector(source + ".bias", width);
  std::vector<float> positions = tensors.table(base + "embeddings.position_embeddings", 1, rows * width);
  const std::vector<float> learned[] = {tensors.table(base + "embeddings.cls_token", 1, width),
                                        tensors.table(base + "embeddings.distillation_token", 1, width)};
  for (uint32_t row = 0; row < 2; ++row) {
    for (uint32_t i = 0; i < width; ++i) positions[row * width + i] += learned[row][i] - bias[i];
  }
  WeightPart part = tensors.computed("squares", width, size, tensors.table(source + ".weight", width, size));
  const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
  BlockInput in{builder.input(size)};
  const View x = builder.new_value(width, Unit::token);
  builder.linears("", in, {Projection{"squares", {std::move(part)}, dtype, bias}}, x, Activation::none,
                  std::nullopt);
  builder.add(
      PositionsNode{builder.add_weight({"positions", DType::f32, true, rows, width, {}, positions}), x});
  return x;
}

/// Takes what the extractor's settings say of features, where the source has them: Kaldi's filter banks.
void read_ast_features(const Source& source, SoundSpec& sound) {
  const auto settings = read_sound_settings(source);
  if (!settings) return;
  Config values(settings->keys, settings->where);
  if (values.text("feature_extractor_type") != "ASTFeatureExtractor")
    values.refuse("feature_extractor_type is not ASTFeatureExtractor");
  read_filter_bank(values, 128, sound);
  expect_size(values, "max_length", sound.frames, 1024);
  const bool normalizes = values.flag("do_normalize", true);
  const double mean = values.number("mean", -4.2677393), deviation = values.number("std", 4.5689974);
  if (normalizes && !(deviation > 0)) values.refuse("std is not above 0");
  sound.features = SoundFeatures::filter_bank;
  sound.mean = normalizes ? static_cast<float>(mean) : 0.0f;
  sound.scale = normalizes ? static_cast<float>(2 * deviation) : 1.0f;
  values.finish();
  values.check_keys();
}

}  // namespace

TransformerSpec read_ast(const Source& source, Config& config) {
  const std::string base = base_of(source, "audio_spectrogram_transformer.");
  if (base.empty()) config.refuse("only ASTForAudioClassification is supported, not a model without labels");
  TransformerSpec spec;
  SoundSpec sound;
  sound.waveform = false;
  sound.patch = config.size("patch_size", 1, 1024, 16);
  sound.frame_step = config.size("time_stride", 1, kMaxSize, 10);
  sound.bin_step = config.size("frequency_stride", 1, kMaxSize, 10);
  sound.frames = config.size("max_length", sound.patch, kMaxSize, 1024);
  sound.bins = config.size("num_mel_bins", sound.patch, kMaxSize, 128);
  sound.before = 2;
  read_ast_features(source, sound);
  const uint64_t squares = uint64_t{(sound.frames - sound.patch) / sound.frame_step + 1} *
                           ((sound.bins - sound.patch) / sound.bin_step + 1);
  if (squares + 2 > kMaxSize) config.refuse("a spectrogram of {} squares", squares);
  spec.sound = sound;
  spec.vocab = 1;
  read_vit_layers(config, base, 1e-12, spec);
  const auto rows = static_cast<uint32_t>(squares + 2);
  spec.context = rows;
  spec.tied_embedding = false;
  spec.optional_biases = true;
  const uint32_t width = spec.width;
  spec.stem = [=](TransformerBuilder& builder) { return build_squares(builder, base, sound, rows, width); };
  config.value("architectures");
  config.value("label2id");
  read_labels_head(source, config, "classifier.dense", spec);
  spec.head.first_two = spec.head.hidden_before_norm = true;
  spec.head.pooled_norm = "classifier.layernorm";
  return spec;
}

}  // namespace mote::convert
