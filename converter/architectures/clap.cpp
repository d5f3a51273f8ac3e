// SPDX-License-Identifier: Apache-2.0
//
// CLAP (Wu et al. 2022): a model of sounds and one of texts, whose vectors are compared. The sounds' tower is
// HTSAT (Chen et al. 2022), Swin's stages over a spectrogram that is cut into parts, one below the other; the
// texts' is RoBERTa. Each tower becomes a file of its own.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/clap_features.h"
#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/shared/swin_stages.h"
#include "converter/architectures/shared/vision_language.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

constexpr double kBatchNormEps = 1e-5;

/// The spectrogram, [frames, bins], as a square picture: its parts of as many frames as the picture is wide,
/// one below the other, frames from left to right and bins from top to bottom.
struct SoundPicture {
  uint32_t side, bins, patch;

  uint32_t parts() const { return side / bins; }
  uint32_t frames() const { return side * parts(); }
  uint32_t across() const { return side / patch; }
  uint32_t lines_of_part() const { return bins / patch; }
  uint32_t squares() const { return across() * across(); }
};

/// Returns the picture's patches, line by line, by their numbers among squares of all frames for each bin in
/// turn.
std::vector<float> patch_order(const SoundPicture& picture) {
  std::vector<float> order;
  order.reserve(picture.squares());
  for (uint32_t i = 0; i < picture.squares(); ++i) {
    const uint32_t line = i / picture.across(), column = i % picture.across();
    const uint32_t part = line / picture.lines_of_part(), bin = line % picture.lines_of_part();
    order.push_back(
        static_cast<float>(bin * picture.frames() / picture.patch + part * picture.across() + column));
  }
  return order;
}

/// Batch norm of a spectrogram's bins, by stored statistics: a factor and a summand of each.
struct BinNorm {
  std::vector<float> factors, summands;
};
BinNorm read_bin_norm(TensorSet& tensors, const std::string& name, uint32_t bins) {
  const auto vector = [&](const char* part) { return tensors.vector(name + part, bins); };
  const std::vector<float> mean = vector(".running_mean"), variance = vector(".running_var"),
                           weight = vector(".weight"), bias = vector(".bias");
  tensors.ignore(name + ".num_batches_tracked");
  BinNorm norm;
  for (uint32_t i = 0; i < bins; ++i) {
    const double factor = double{weight[i]} / std::sqrt(double{variance[i]} + kBatchNormEps);
    norm.factors.push_back(static_cast<float>(factor));
    norm.summands.push_back(static_cast<float>(double{bias[i]} - double{mean[i]} * factor));
  }
  return norm;
}

/// Adds a number to each column of each square in `to`, that of the column's bin, or puts it there.
void add_bin_numbers(TransformerBuilder& builder, const std::string& label, const SoundPicture& picture,
                     const std::vector<float>& numbers, View to, bool replaces) {
  charge_table({picture.squares(), to.width});
  std::vector<float> table;
  table.reserve(size_t{picture.squares()} * to.width);
  const uint32_t of_bin = picture.frames() / picture.patch;
  for (uint32_t square = 0; square < picture.squares(); ++square) {
    for (uint32_t i = 0; i < to.width; ++i)
      table.push_back(numbers[square / of_bin * picture.patch + i / picture.patch]);
  }
  const int32_t weight =
      builder.add_weight({label, DType::f32, true, picture.squares(), to.width, {}, std::move(table)});
  builder.add(PositionsNode{weight, to, RowIndex::position, replaces});
}

/// Builds the first stage's rows of squares of the spectrogram, whose bins are normed.
View build_sound_picture(TransformerBuilder& builder, const std::string& base, const SoundPicture& picture,
                         uint32_t width, bool normed) {
  const uint32_t size = picture.patch * picture.patch;
  const BinNorm norm = read_bin_norm(builder.tensors(), base + "batch_norm", picture.bins);
  const View in = builder.input(size), scaled = builder.new_value(size, Unit::token);
  add_bin_numbers(builder, "bin_factors", picture, norm.factors, scaled, true);
  builder.add(GateNode{Activation::none, scaled, in, scaled});
  add_bin_numbers(builder, "bin_summands", picture, norm.summands, scaled, false);

  const std::string source = base + "patch_embed.proj";
  WeightPart part = builder.tensors().computed("patches", width, size,
                                               builder.tensors().table(source + ".weight", width, size));
  const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
  BlockInput input{scaled};
  const View patches = builder.new_value(width, Unit::token);
  builder.linears(
      "", input,
      {Projection{"patches", {std::move(part)}, dtype, builder.tensors().vector(source + ".bias", width)}},
      patches, Activation::none, std::nullopt);
  if (normed) builder.norm("patches_norm", base + "patch_embed.norm", patches, patches);

  builder.enter_groups(1, 1);
  const View x = builder.new_value(width, Unit::token);
  charge_table({picture.squares()});
  const int32_t order =
      builder.add_weight({"patch_order", DType::f32, true, picture.squares(), 1, {}, patch_order(picture)});
  builder.add(GatherRowsNode{1, order, patches, x});
  return x;
}

/// Reads a size that is a number or a list of two equal ones.
uint32_t read_equal_sides(Config& config, const std::string& key, uint32_t fallback) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr || !value->is_array()) return config.size(key, 1, 1024, fallback);
  if (value->size() != 2 || (*value)[0] != (*value)[1])
    config.refuse_value(key, value, "a number, or a list of two equal ones");
  return config.inner({{key, (*value)[0]}}, "").size(key, 1, 1024);
}

SoundPicture read_sound_picture(Config& config) {
  SoundPicture picture{};
  picture.side = config.size("spec_size", 1, 4096, 256);
  picture.bins = config.size("num_mel_bins", 1, 4096, 64);
  picture.patch = read_equal_sides(config, "patch_size", 4);
  const uint32_t stride = read_equal_sides(config, "patch_stride", 4);
  if (stride != picture.patch)
    config.refuse("patch_stride {} is not supported; that of patch_size, {}, is", stride, picture.patch);
  if (picture.side % picture.bins != 0)
    config.refuse("spec_size {} is no multiple of num_mel_bins {}, which is not supported", picture.side,
                  picture.bins);
  if (picture.bins % picture.patch != 0)
    config.refuse("num_mel_bins {} is no multiple of patch_size {}, which is not supported", picture.bins,
                  picture.patch);
  return picture;
}

/// Refuses a last stage whose lines the original cannot take apart, as many of each part of the spectrogram.
void check_last_lines(const Config& config, const SoundPicture& picture, size_t stages) {
  const uint32_t lines = picture.across() >> (stages - 1), of_part = lines / picture.parts();
  if (of_part == 0 || lines % of_part != 0)
    config.refuse("the last of {} stages has {} lines of patches, which are not those of {} parts", stages,
                  lines, picture.parts());
}

/// Adds the two linears that a tower's vector passes behind its pooling, of which the first has an
/// activation.
void add_projection(const std::string& name, uint32_t width, Activation activation, TransformerSpec& spec) {
  spec.head.projections = {{name + ".linear1", "", activation, width, true},
                           {name + ".linear2", "", Activation::none, width, true}};
}

TransformerSpec read_sound_tower(const Source& source, Config& config, const std::string& base) {
  TransformerSpec spec{};
  require_flag(config, "enable_fusion", false);
  require_flag(config, "flatten_patch_embeds", true);
  if (const uint32_t channels = config.size("patch_embed_input_channels", 1, 1024, 1); channels != 1)
    config.refuse("patch_embed_input_channels {} is not supported; 1 is", channels);
  const SoundPicture picture = read_sound_picture(config);
  add_swin_stages(config,
                  {base + "layers.",
                   picture.across(),
                   picture.across(),
                   false,
                   "spec_size",
                   "patch_embeds_hidden_size",
                   "num_attention_heads",
                   96,
                   8,
                   {4, 8, 16, 32}},
                  spec);
  check_last_lines(config, picture, spec.layers.size());
  if (const uint32_t width = config.size("hidden_size", 1, kMaxSize, 768); width != spec.width)
    config.refuse("hidden_size is {}, the last stage's is {}", width, spec.width);
  set_swin_norms(config, spec);
  const bool normed = config.flag("enable_patch_layer_norm", true);
  const uint32_t width = spec.embedding_width;
  spec.stem = [=](TransformerBuilder& builder) {
    return build_sound_picture(builder, base, picture, width, normed);
  };
  SoundSpec sound;
  sound.waveform = false;
  sound.rate = kClapRate;
  sound.patch = sound.frame_step = sound.bin_step = picture.patch;
  sound.frames = picture.frames();
  sound.bins = picture.bins;
  read_clap_features(source, sound);
  spec.sound = sound;
  spec.vocab = 1;
  spec.context = picture.squares();
  spec.tied_embedding = false;
  spec.without_tokenizer = true;
  spec.names.final_norm = base + "norm";
  spec.names.ignored = {"relative_position_index"};
  spec.head.pool = PoolKind::mean;
  spec.head.hidden_before_norm = true;
  know(config, {"num_classes", "num_hidden_layers", "drop_path_rate", "hidden_dropout_prob",
                "attention_probs_dropout_prob", "aff_block_r", "fusion_type", "initializer_factor",
                "projection_dim", "projection_hidden_act", "chunk_size_feed_forward"});
  return spec;
}

TransformerSpec read_text_tower_of_sounds(const Source& source, Config& config, const std::string& base) {
  BertDefaults defaults;
  defaults.vocab = 50265;
  defaults.context = 514;
  defaults.token_types = 1;
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  set_positions(source, config, spec.position_rows, config.size("pad_token_id", 0, kMaxSize, 1) + 1, spec);
  spec.head.pool = PoolKind::first;
  spec.head.dense = {base + "pooler.dense", "", Activation::tanh, spec.width};
  spec.names.ignored = {"embeddings.position_ids", "embeddings.token_type_ids"};
  know(config,
       {"projection_dim", "projection_hidden_act", "initializer_factor", "bos_token_id", "eos_token_id"});
  return spec;
}

void set_vectors(TransformerSpec& spec) {
  spec.head.kind = OutputKind::embedding;
  spec.head.probabilities = Probabilities::none;
}

/// The width of vectors, and the activation on the way there.
struct ClapProjection {
  uint32_t width;
  Activation activation;
};
ClapProjection read_projection(Config& config) {
  return {config.size("projection_dim", 1, kMaxSize, 512),
          read_activation(config, "projection_hidden_act", "relu")};
}

/// Reads a tower by itself, with its projection or as it is, whose vectors keep their lengths.
TransformerSpec read_tower_alone(const Source& source, Config& config, bool hears) {
  const std::string name = hears ? "audio" : "text", whole = name + "_model.";
  const bool projects = !base_of(source, whole).empty();
  const std::string base = (projects ? whole : "") + (hears ? "audio_encoder." : "");
  TransformerSpec spec =
      hears ? read_sound_tower(source, config, base) : read_text_tower_of_sounds(source, config, base);
  set_vectors(spec);
  config.value("architectures");
  const ClapProjection projection = read_projection(config);
  if (projects) add_projection(name + "_projection", projection.width, projection.activation, spec);
  return spec;
}

}  // namespace

TransformerSpec read_clap_audio_model(const Source& source, Config& config) {
  return read_tower_alone(source, config, true);
}

TransformerSpec read_clap_text_model(const Source& source, Config& config) {
  return read_tower_alone(source, config, false);
}

TransformerSpec read_clap(const Source& source, Config& config) {
  know(config, {"logit_scale_init_value", "initializer_factor", "hidden_size", "num_hidden_layers"});
  if (source.tower != "audio" && source.tower != "text")
    config.refuse("CLAP has a tower of sounds and one of texts: choose --tower audio or --tower text");
  const bool hears = source.tower == "audio";
  Config sounds = config.inner(object_of_config(config, "audio_config"), "audio_config."),
         texts = config.inner(object_of_config(config, "text_config"), "text_config.");
  Config& own = hears ? sounds : texts;
  const ClapProjection projection = read_projection(config);  // the whole's count, not the towers'
  TransformerSpec spec = hears ? read_sound_tower(source, own, "audio_model.audio_encoder.")
                               : read_text_tower_of_sounds(source, own, "text_model.");
  own.finish();
  set_vectors(spec);
  add_projection(hears ? "audio_projection" : "text_projection", projection.width, projection.activation,
                 spec);
  spec.head.normalize = true;
  if (hears) {
    const float logarithm = read_values(source, "logit_scale_a", 1)[0], scale = std::exp(logarithm);
    if (!std::isfinite(scale)) config.refuse("tensor logit_scale_a is {}", logarithm);
    spec.sound->similarity_scale = scale;
  }
  spec.names.ignored_starts = {hears ? "text_" : "audio_", "logit_scale_"};
  return spec;
}

}  // namespace mote::convert
