// SPDX-License-Identifier: Apache-2.0
//
// Moonshine (Jeffries et al. 2024): convolutions over a waveform, an encoder, and a decoder with a gated
// feed-forward, both with RoPE on a part of each head. Its streaming kind (Kudlur et al. 2025) reads frames
// of 80 samples, sees few rows to either side, and has no positions before the decoder.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/encoder_decoder.h"
#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/shared/sound_settings.h"
#include "converter/layers/encoder_blocks.h"
#include "converter/layers/sound_stem.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr float kMoonshineSeconds = 30.0f;     // of one run
constexpr uint32_t kMoonshineRows = 1u << 14;  // of a source: a minute
constexpr float kHiddenScore = -1e30f;         // of what lies outside of a window
const char* const kMoonshineEncoder = "model.encoder.";

View build_moonshine_stem(TransformerBuilder& builder, uint32_t width) {
  const std::string base = kMoonshineEncoder;
  const TimeConv first = {base + "conv1", width, 127, 64, 0, 0, false};
  View x = waveform_conv(builder, "stem.conv.0", first, Activation::tanh);
  TensorSet& tensors = builder.tensors();
  const int32_t weight = builder.add_vector("stem.norm", tensors.vector(base + "groupnorm.weight", width));
  const int32_t bias = builder.add_vector("stem.norm.bias", tensors.vector(base + "groupnorm.bias", width));
  builder.add(TimeNormNode{1, 1e-5f, Activation::none, weight, bias, x, x});
  x = time_conv(builder, "stem.conv.1", {base + "conv2", 2 * width, 7, 3}, x, Activation::gelu);
  return time_conv(builder, "stem.conv.2", {base + "conv3", width, 3, 2}, x, Activation::gelu);
}

View build_streaming_stem(TransformerBuilder& builder, uint32_t frame, uint32_t width) {
  const std::string base = std::string(kMoonshineEncoder) + "embedder.";
  builder.tensors().ignore(base + "comp.log_k");  // of the features
  const View frames = builder.input(frame), x = builder.new_value(width, Unit::token);
  builder.linear("stem.frames", base + "linear", Role::fine, frames, x, Activation::silu, false);
  const View inner =
      time_conv(builder, "stem.conv.0", {base + "conv1", 2 * width, 5, 2, 4}, x, Activation::silu);
  return time_conv(builder, "stem.conv.1", {base + "conv2", width, 5, 2, 4}, inner, Activation::none);
}

AttentionSpec moonshine_attention(Config& config, uint32_t width, const std::string& prefix) {
  AttentionSpec attention;
  attention.heads = config.size(prefix + "num_attention_heads", 1, kMaxSize, 8);
  attention.kv_heads = config.size(prefix + "num_key_value_heads", 1, kMaxSize, attention.heads);
  attention.head_dim = config.size("head_dim", 1, kMaxHeadDim, width / attention.heads);
  if (attention.kv_heads != attention.heads)
    config.refuse("{}num_key_value_heads {} is not supported", prefix, attention.kv_heads);
  attention.scale = static_cast<float>(1.0 / std::sqrt(attention.head_dim));
  attention.qkv_bias = config.flag("attention_bias", false);
  know(config, {"pad_head_dim_to_multiple_of", "attention_dropout"});
  return attention;
}

void name_moonshine_attention(const std::string& layer, const char* name, const char* norm,
                              LayerNames& names) {
  names.q = layer + name + ".q_proj";
  names.k = layer + name + ".k_proj";
  names.v = layer + name + ".v_proj";
  names.o = layer + name + ".o_proj";
  names.attention_norms.before = layer + norm;
}

/// A layer of either side.
LayerSpec moonshine_layer(const std::string& layer, const AttentionSpec& attention, const FfnSpec& ffn,
                          const char* ffn_norm) {
  LayerSpec spec;
  spec.attention = attention;
  spec.ffn = ffn;
  name_moonshine_attention(layer, "self_attn", "input_layernorm", spec.names);
  spec.names.up = layer + "mlp.fc1";
  spec.names.down = layer + "mlp.fc2";
  spec.names.ffn_norms.before = layer + ffn_norm;
  return spec;
}

void build_moonshine_decoder_layer(TransformerBuilder& builder, const LayerSpec& layer) {
  builder.attention(layer);
  LayerSpec cross = *layer.cross;
  cross.weights = layer.weights;
  builder.cross_attention(cross);
  add_fused_ffn(builder, layer, layer.names.up, FusedHalf::second, true);
}

TransformerSpec moonshine_side(uint32_t vocab, uint32_t width) {
  TransformerSpec spec{};
  spec.vocab = vocab;
  spec.width = width;
  spec.norm = NormKind::layer;
  spec.norm_eps = 1e-5f;
  return spec;
}

/// The defaults of the two kinds' config classes for absent keys; `prefix` starts the keys of heads and
/// layers.
struct MoonshineDefaults {
  std::string prefix;
  double turning;  // share of a head that RoPE turns
  uint32_t width, context, ffn_width;
  bool tied;
};

TransformerSpec read_moonshine_decoder(Config& config, const MoonshineDefaults& defaults) {
  const std::string& prefix = defaults.prefix;
  TransformerSpec spec = moonshine_side(config.size("vocab_size", 1, kMaxSize, 32768),
                                        config.size("hidden_size", 1, kMaxSize, defaults.width));
  spec.context = config.size("max_position_embeddings", 1, 1u << 20, defaults.context);
  AttentionSpec attention = moonshine_attention(config, spec.width, prefix);
  RopeDefaults rope;
  rope.partial = defaults.turning;
  rope.kind = RopeKind::interleaved;
  spec.ropes = {read_rope(config, attention.head_dim, spec.context, {}, rope)};
  attention.rope = 0;
  const FfnSpec ffn = {Ffn::gated, read_activation(config, prefix + "hidden_act", "silu"),
                       config.size("intermediate_size", 1, kMaxSize, defaults.ffn_width), true};
  const std::string base = "model.decoder.", prefix_of_layer = base + "layers.{}.";
  LayerSpec layer = moonshine_layer(prefix_of_layer, attention, ffn, "final_layernorm");
  LayerSpec cross = layer;
  name_moonshine_attention(prefix_of_layer, "encoder_attn", "post_attention_layernorm", cross.names);
  set_cross(std::move(cross), layer);
  layer.build = build_moonshine_decoder_layer;
  spec.repeat(layer, config.size(prefix + "num_hidden_layers", 1, kMaxLayers, 6));
  spec.names.embedding = base + "embed_tokens";
  spec.names.final_norm = base + "norm";
  spec.names.head = "proj_out";
  spec.tied_embedding = config.flag("tie_word_embeddings", defaults.tied);
  spec.speech = SpeechSpec{};
  spec.speech->tokens_of_second = 6.5f;  // that the authors allow, more being repetitions
  return spec;
}

/// Returns a bias of each head by which rows i see rows j with 0 <= i - j < left or 0 < j - i < right.
std::vector<float> window_bias(uint32_t heads, uint32_t rows, uint32_t left, uint32_t right) {
  charge_table({heads, 2, rows});
  const int64_t reach = rows;
  std::vector<float> bias;
  for (uint32_t head = 0; head < heads; ++head) {
    for (int64_t ahead = 1 - reach; ahead < reach; ++ahead)
      bias.push_back(ahead > -int64_t{left} && ahead < std::max<int64_t>(right, 1) ? 0.0f : kHiddenScore);
  }
  return bias;
}

/// The windows of the layers, of which equal ones share a bias.
void set_streaming_windows(Config& config, TransformerSpec& spec) {
  const nlohmann::json* windows = config.value("sliding_windows");
  const nlohmann::json usual = {{16, 4}, {16, 4}, {16, 0}, {16, 0}, {16, 4}, {16, 4}};
  const nlohmann::json& list = windows == nullptr ? usual : *windows;
  if (!list.is_array() || list.size() != spec.layers.size())
    config.refuse_value("sliding_windows", windows, fmt::format("{} pairs of sizes", spec.layers.size()));
  std::vector<nlohmann::json> known;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const nlohmann::json& window = list[i];
    const auto fits = [&](size_t at, uint64_t least) {
      return window[at].is_number_integer() && window[at].get<int64_t>() >= static_cast<int64_t>(least) &&
             window[at].get<int64_t>() <= int64_t{kMaxSize};
    };
    if (!window.is_array() || window.size() != 2 || !fits(0, 1) || !fits(1, 0))
      config.refuse_value("sliding_windows", &window, "a pair of sizes, the first above 0");
    const auto same = std::find(known.begin(), known.end(), window);
    spec.layers[i].attention.bias = static_cast<uint32_t>(same - known.begin());
    if (same != known.end()) continue;
    known.push_back(window);
    spec.attention_biases.push_back(window_bias(spec.layers[i].attention.heads, spec.layer_rows,
                                                window[0].get<uint32_t>(), window[1].get<uint32_t>()));
  }
}

/// The samples of a frame.
uint32_t read_frame(Config& config) {
  const double rate = config.number("sample_rate", 16000), ms = config.number("frame_ms", 5.0);
  const double frame = std::round(rate * ms / 1000.0);
  if (rate != 16000 || !(frame >= 1 && frame <= 4096))
    config.refuse("frames of {} ms at {} Hz are not supported", ms, rate);
  return static_cast<uint32_t>(frame);
}

}  // namespace

TransformerSpec read_moonshine(const Source& source, Config& config) {
  TransformerSpec spec = read_moonshine_decoder(config, {"decoder_", 0.9, 288, 512, 1152, true});
  TransformerSpec encoder = moonshine_side(spec.vocab, spec.width);
  encoder.context = kMoonshineRows;
  encoder.ropes = spec.ropes;
  AttentionSpec attention = moonshine_attention(config, spec.width, "encoder_");
  const AttentionSpec& of_decoder = spec.layers[0].attention;
  if (attention.head_dim != of_decoder.head_dim)
    config.refuse("encoder_num_attention_heads {} and decoder_num_attention_heads {} differ", attention.heads,
                  of_decoder.heads);
  attention.rope = 0;
  const FfnSpec ffn = {Ffn::plain, read_activation(config, "encoder_hidden_act", "gelu"),
                       spec.layers[0].ffn.width, true};
  const std::string base = kMoonshineEncoder;
  encoder.repeat(moonshine_layer(base + "layers.{}.", attention, ffn, "post_attention_layernorm"),
                 config.size("encoder_num_hidden_layers", 1, kMaxLayers, 6));
  encoder.names.final_norm = base + "layer_norm";
  encoder.sound = SoundSpec{};
  encoder.sound->longest = kMoonshineSeconds;
  encoder.sound->window = 127;
  read_waveform_settings(source, *encoder.sound);
  const uint32_t width = spec.width;
  encoder.stem = [width](TransformerBuilder& builder) { return build_moonshine_stem(builder, width); };
  set_encoder(config, std::move(encoder), spec, 1);
  return spec;
}

TransformerSpec read_moonshine_streaming(const Source& source, Config& config) {
  TransformerSpec spec = read_moonshine_decoder(config, {"", 0.8, 320, 4096, 1280, false});
  const nlohmann::json* inner = config.value("encoder_config");
  if (inner == nullptr || !inner->is_object()) config.refuse_value("encoder_config", inner, "an object");
  Config own = config.inner(*inner, "encoder_config.");
  TransformerSpec encoder = moonshine_side(spec.vocab, own.size("hidden_size", 1, kMaxSize, 320));
  encoder.layer_rows = spec.context;  // the decoder has positions for them
  encoder.context = 4 * encoder.layer_rows;
  encoder.norm_plus_one = true;
  encoder.norm_weight = ".gamma";
  AttentionSpec attention = moonshine_attention(own, encoder.width, "");
  attention.o_bias = attention.qkv_bias;
  const FfnSpec ffn = {Ffn::plain, read_activation(own, "hidden_act", "gelu"),
                       own.size("intermediate_size", 1, kMaxSize, 1280), true};
  const std::string base = kMoonshineEncoder;
  encoder.repeat(moonshine_layer(base + "layers.{}.", attention, ffn, "post_attention_layernorm"),
                 own.size("num_hidden_layers", 1, kMaxLayers, 6));
  set_streaming_windows(own, encoder);
  encoder.names.final_norm = base + "final_norm";
  encoder.names.source_positions = "model.decoder.pos_emb";
  if (encoder.width != spec.width) encoder.names.source_projection = "model.decoder.proj";
  encoder.output_width = spec.width;
  const uint32_t frame = read_frame(own), width = encoder.width;
  know(own, {"max_position_embeddings", "model_type"});
  own.finish();
  encoder.sound = SoundSpec{};
  encoder.sound->longest = kMoonshineSeconds;
  encoder.sound->waveform = false;
  encoder.sound->features = SoundFeatures::compressed_frames;
  encoder.sound->hop = frame;
  read_waveform_settings(source, *encoder.sound);
  encoder.sound->scale = std::exp(read_values(source, base + "embedder.comp.log_k", 1)[0]);
  encoder.stem = [frame, width](TransformerBuilder& builder) {
    return build_streaming_stem(builder, frame, width);
  };
  set_encoder(config, std::move(encoder), spec);
  return spec;
}

}  // namespace mote::convert
