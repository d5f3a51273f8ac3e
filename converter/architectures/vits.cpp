// SPDX-License-Identifier: Apache-2.0
//
// The sizes, and the encoder: relative positions in keys and values, convolutions in the feed-forward.
#include "converter/architectures/vits.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/classic_stack.h"
#include "converter/architectures/wav2vec2.h"
#include "converter/layers/sound_stem.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostLetters = 4096;     // of a text; the model has no bound
constexpr uint32_t kMostFrames = 1u << 16;  // of an utterance
constexpr uint32_t kFramesAtOnce = 64;      // that become samples, beside those they depend on
constexpr uint32_t kMostTaps = 64, kMostBins = 128, kMostRate = 1u << 12;
constexpr uint32_t kMostSpeakers = 1u << 14;

uint32_t odd(Config& config, const char* key, uint32_t fallback) {
  const uint32_t taps = config.size(key, 1, kMostTaps, fallback);
  if (taps % 2 == 0) config.refuse("{} {} is even", key, taps);
  return taps;
}

float number(Config& config, const char* key, double least, double fallback) {
  const double value = config.number(key, fallback);
  if (!(value >= least)) config.refuse("{} is {}", key, value);
  return static_cast<float>(value);
}

std::vector<std::vector<uint32_t>> read_dilations(Config& config, size_t blocks) {
  const char* key = "resblock_dilation_sizes";
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return std::vector<std::vector<uint32_t>>(blocks, {1, 3, 5});
  std::vector<std::vector<uint32_t>> lists;
  for (const nlohmann::json& list : value->is_array() ? *value : nlohmann::json::array()) {
    lists.emplace_back();
    for (const nlohmann::json& item : list.is_array() ? list : nlohmann::json::array()) {
      if (!item.is_number_unsigned() || item.get<uint64_t>() < 1 || item.get<uint64_t>() > kMostTaps)
        config.refuse_value(key, value, "lists of sizes");
      lists.back().push_back(item.get<uint32_t>());
    }
    if (lists.back().empty()) config.refuse_value(key, value, "lists of sizes");
  }
  if (lists.size() != blocks)
    config.refuse("resblock_dilation_sizes has {} lists for {} resblock_kernel_sizes", lists.size(), blocks);
  return lists;
}

void read_sound_sizes(Config& config, VitsSizes& sizes) {
  sizes.channels = config.size("upsample_initial_channel", 1, kMaxSize, 512);
  sizes.rates = read_conv_sizes(config, "upsample_rates", {8, 8, 2, 2});
  sizes.rate_taps = read_conv_sizes(config, "upsample_kernel_sizes", {16, 16, 4, 4});
  sizes.block_taps = read_conv_sizes(config, "resblock_kernel_sizes", {3, 7, 11});
  if (sizes.rates.empty() || sizes.rates.size() != sizes.rate_taps.size() || sizes.block_taps.empty())
    config.refuse("upsample_rates, upsample_kernel_sizes and resblock_kernel_sizes have {}, {} and {} items",
                  sizes.rates.size(), sizes.rate_taps.size(), sizes.block_taps.size());
  uint64_t hop = 1;
  for (size_t i = 0; i < sizes.rates.size(); ++i) {
    const uint32_t rate = sizes.rates[i], taps = sizes.rate_taps[i];
    if (taps < rate || (taps - rate) % 2 != 0 || taps > kMostRate)
      config.refuse("upsample_kernel_sizes has {} for a rate of {}", taps, rate);
    if (sizes.channels % (2u << i) != 0)
      config.refuse("upsample_initial_channel {} cannot be halved {} times", sizes.channels, i + 1);
    hop *= rate;
    if (hop > kMostRate) config.refuse("upsample_rates make more than {} samples of a frame", kMostRate);
  }
  const uint32_t kind = config.size("resblock", 1, 2, 1);  // Piper's voices alone have the key
  sizes.convs_in_pairs = kind == 1;
  for (const uint32_t taps : sizes.block_taps)
    if (taps % 2 == 0 || taps > kMostTaps) config.refuse("resblock_kernel_sizes has {}", taps);
  sizes.block_dilations = read_dilations(config, sizes.block_taps.size());
  sizes.slope = number(config, "leaky_relu_slope", 0.0, 0.1);
}

std::vector<std::string> read_names(Config& config, uint32_t speakers) {
  const char* key = "speaker_names";
  const nlohmann::json* value = config.value(key);
  std::vector<std::string> names;
  for (const nlohmann::json& name :
       value != nullptr && value->is_array() ? *value : nlohmann::json::array()) {
    if (!name.is_string()) config.refuse_value(key, value, "a list of names");
    names.push_back(name.get<std::string>());
  }
  if (!names.empty() && names.size() != speakers)
    config.refuse("{} has {} names for {} speakers", key, names.size(), speakers);
  return names;
}

VitsSizes read_sizes(Config& config) {
  VitsSizes sizes{};
  sizes.width = config.size("hidden_size", 1, kMaxSize, 192);
  sizes.latents = config.size("flow_size", 2, kMaxSize, 192);
  sizes.speakers = config.size("num_speakers", 1, kMostSpeakers, 1);
  sizes.speaker_width = config.size("speaker_embedding_size", 0, kMaxSize, 0);
  if ((sizes.speakers > 1) != (sizes.speaker_width > 0))
    config.refuse("num_speakers {} and speaker_embedding_size {} do not fit each other", sizes.speakers,
                  sizes.speaker_width);
  if (sizes.latents % 2 != 0) config.refuse("flow_size {} is odd", sizes.latents);
  if (!config.flag("use_stochastic_duration_prediction", true))
    config.refuse("use_stochastic_duration_prediction is false, which is not supported");
  if (config.size("depth_separable_channels", 1, kMaxSize, 2) != 2)
    config.refuse("depth_separable_channels is not 2");
  sizes.duration_layers = config.size("depth_separable_num_layers", 1, 6, 3);
  sizes.duration_taps = odd(config, "duration_predictor_kernel_size", 3);
  uint64_t dilation = 1;
  for (uint32_t i = 1; i < sizes.duration_layers; ++i) dilation *= sizes.duration_taps;
  if (dilation > kMostRate)
    config.refuse("duration_predictor_kernel_size {} is too large for {} layers", sizes.duration_taps,
                  sizes.duration_layers);
  sizes.duration_flows = config.size("duration_predictor_num_flows", 1, kMostTaps, 4);
  sizes.bins = config.size("duration_predictor_flow_bins", 2, kMostBins, 10);
  sizes.bound = number(config, "duration_predictor_tail_bound", 1e-3, 5.0);
  sizes.flows = config.size("prior_encoder_num_flows", 2, kMostTaps, 4);
  if (sizes.flows % 2 != 0) config.refuse("prior_encoder_num_flows {} is odd", sizes.flows);
  sizes.wavenet_layers = config.size("prior_encoder_num_wavenet_layers", 1, kMostTaps, 4);
  sizes.wavenet_taps = odd(config, "wavenet_kernel_size", 5);
  sizes.wavenet_dilation = config.size("wavenet_dilation_rate", 1, kMostTaps, 1);
  if (std::pow(sizes.wavenet_dilation, sizes.wavenet_layers - 1) > kMostRate)
    config.refuse("wavenet_dilation_rate {} is too large for {} layers", sizes.wavenet_dilation,
                  sizes.wavenet_layers);
  read_sound_sizes(config, sizes);
  return sizes;
}

void read_unused(Config& config) {
  for (const char* key :
       {"activation_dropout", "attention_dropout", "duration_predictor_dropout",
        "duration_predictor_filter_channels", "hidden_dropout", "initializer_range", "layerdrop",
        "posterior_encoder_num_wavenet_layers", "spectrogram_bins", "wavenet_dropout"})
    config.value(key);
}

LayerSpec read_layer(Config& config, uint32_t width, uint32_t reach) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("num_attention_heads", 1, kMaxSize, 2),
                                "hidden_size", "num_attention_heads");
  layer.attention.qkv_bias = layer.attention.o_bias = config.flag("use_bias", true);
  layer.ffn.width = config.size("ffn_dim", 1, kMaxSize, 768);
  layer.ffn.activation = read_activation(config, "hidden_act", "relu");
  const uint32_t taps = config.size("ffn_kernel_size", 1, kMostTaps, 3);
  const std::string prefix = "text_encoder.encoder.layers.{}.";
  layer.names = post_norm_names(
      prefix, {"attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.out_proj", "layer_norm",
               "feed_forward.conv_1", "feed_forward.conv_2", "final_layer_norm"});
  layer.build = [reach, taps, prefix](TransformerBuilder& builder, const LayerSpec& own) {
    TensorSet& tensors = builder.tensors();
    const View x = builder.x();
    const auto table = [&](const char* name) {
      return tensors.table(of_layer(prefix, own) + name, 1, (2 * reach + 1) * own.attention.head_dim);
    };
    const DistanceTables tables{reach, false, table("attention.emb_rel_k"), table("attention.emb_rel_v")};
    BlockInput in{x};
    const View heads = attend_by_distance(builder, own, tables, in);
    builder.add_branch(own, own.names.attention_norms, "attention", heads, builder.o(own));
    const auto conv = [&](const std::string& name, uint32_t out, uint32_t width_in) {
      const std::string source = of_layer(name, own);
      return RowConv{tensors.table(source + ".weight", out, width_in * taps),
                     tensors.vector(source + ".bias", out), taps, (taps - 1) / 2};
    };
    const View inner = builder.new_value(own.ffn.width, Unit::token);
    row_conv(builder, prefix_of(own) + "up", conv(own.names.up, inner.width, x.width), x, inner,
             own.ffn.activation);
    row_conv(builder, prefix_of(own) + "down", conv(own.names.down, x.width, inner.width), inner, x,
             Activation::none, x);
    builder.norm(prefix_of(own) + "ffn_norm", of_layer(own.names.ffn_norms.sum, own), x, x);
  };
  return layer;
}

/// Builds the rows that the other programs take of a letter: its hidden state, means, logarithms of
/// variances.
View project_letters(TransformerBuilder& builder, View x, uint32_t latents) {
  const View all = builder.new_value(x.width + 2 * latents, Unit::token);
  builder.add(ScaleRowsNode{x, columns(all, 0, x.width)});
  const std::string source = "text_encoder.project";
  const RowConv conv{builder.tensors().table(source + ".weight", 2 * latents, x.width),
                     builder.tensors().vector(source + ".bias", 2 * latents), 1, 0};
  row_conv(builder, "project", conv, x, columns(all, x.width, 2 * latents));
  return all;
}

}  // namespace

uint32_t VitsSizes::hop() const {
  uint32_t samples = 1;
  for (const uint32_t rate : rates) samples *= rate;
  return samples;
}

uint32_t VitsSizes::reach() const {
  constexpr uint32_t kOuterReach = 3;  // of the first and the last convolution
  uint32_t rows = kOuterReach;
  for (size_t i = rates.size(); i-- > 0;) {
    uint32_t of_blocks = 0;
    for (size_t b = 0; b < block_taps.size(); ++b) {
      uint32_t of_block = 0;
      for (const uint32_t dilation : block_dilations[b])
        of_block += block_taps[b] / 2 * (dilation + convs_in_pairs);
      of_blocks = std::max(of_blocks, of_block);
    }
    const uint32_t of_rate = (rate_taps[i] - rates[i]) / 2;  // finer rows that a window has beside its own
    rows = (rows + of_blocks + rates[i] - 1) / rates[i] + (of_rate + rates[i] - 1) / rates[i];
  }
  return rows + kOuterReach;
}

TransformerSpec read_vits(const Source&, Config& config) {
  const VitsSizes sizes = read_sizes(config);
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 38);
  spec.width = sizes.width;
  spec.token_types = sizes.speakers > 1 ? sizes.speakers : 0;  // read by the other programs
  spec.context = kMostLetters;
  spec.embedding_multiplier = std::sqrt(static_cast<float>(sizes.width));
  set_layer_norms(number(config, "layer_norm_eps", 0.0, 1e-5), spec);
  spec.last_hidden_unnormed = true;
  spec.names.embedding = "text_encoder.embed_tokens";
  const LayerSpec layer = read_layer(config, sizes.width, config.size("window_size", 1, kMaxSize / 4, 4));
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 6));
  spec.before_head = [latents = sizes.latents](TransformerBuilder& builder, View x) {
    return project_letters(builder, x, latents);
  };
  spec.head.kind = OutputKind::hidden;
  spec.programs = {
      {"durations", 0, [sizes](TransformerBuilder& builder) { return build_vits_durations(builder, sizes); }},
      {"flow", kMostFrames, [sizes](TransformerBuilder& builder) { return build_vits_flow(builder, sizes); }},
      {"samples", kFramesAtOnce + 2 * sizes.reach(),
       [sizes](TransformerBuilder& builder) { return build_vits_samples(builder, sizes); }}};
  VoiceSpec voice;
  voice.rate = config.size("sampling_rate", 1, kMaxSize, 16000);
  voice.reach = sizes.reach();
  voice.speed = number(config, "speaking_rate", 1e-3, 1.0);
  voice.noise = number(config, "noise_scale", 0.0, 0.667);
  voice.duration_noise = number(config, "noise_scale_duration", 0.0, 0.8);
  // Keys that the reader of Piper's voices makes.
  voice.phonemes = config.text("espeak_voice", "");
  voice.speakers = read_names(config, sizes.speakers);
  voice.speaker = config.size("default_speaker", 0, sizes.speakers - 1, 0);
  spec.voice = voice;
  read_unused(config);
  spec.names.ignored_starts = {"duration_predictor.flows.1.", "duration_predictor.post_",
                               "posterior_encoder."};
  return spec;
}

}  // namespace mote::convert
