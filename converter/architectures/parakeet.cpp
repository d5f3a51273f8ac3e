// SPDX-License-Identifier: Apache-2.0
//
// Parakeet for CTC (Rekesh et al. 2023: Fast Conformer): convolutions that leave an eighth of the frames,
// then Conformer blocks whose attention knows distances as Transformer-XL does (Dai et al. 2019).
#include "converter/architectures/parakeet.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/ctc_texts.h"
#include "converter/architectures/shared/sound_settings.h"
#include "converter/layers/conformer_parts.h"
#include "converter/layers/sound_stem.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostReach = 512;  // rows of the layers: 40 seconds; a query's biases reach as far
constexpr float kBlockNormEps = 1e-5f;

struct ParakeetSizes {
  uint32_t mels, channels, taps, stride, convs;  // of the subsampling
  uint32_t width, reach, block_taps;
  bool bias, conv_bias;
  float input_scale;

  uint32_t pad() const { return (taps - 1) / 2; }
  uint32_t places(uint32_t of) const { return (of + 2 * pad() - taps) / stride + 1; }
};

/// The first convolution, of one channel: for each place a linear on the frames of its window, those columns
/// of it that there are. Rows of `channels` columns for each place.
View first_conv(TransformerBuilder& builder, const ParakeetSizes& sizes, const std::string& source, View in) {
  TensorSet& tensors = builder.tensors();
  const uint32_t taps = sizes.taps, channels = sizes.channels, places = sizes.places(in.width);
  const std::vector<float> all = tensors.table(source + ".weight", channels, taps * taps);
  const int32_t bias = builder.add_vector("subsampling.0.bias", tensors.vector(source + ".bias", channels));
  builder.enter_groups(sizes.stride, taps - 2 * sizes.pad());
  const View out = builder.new_value(places * channels, Unit::token);
  std::map<std::pair<uint32_t, uint32_t>, std::pair<int32_t, View>> windows;  // by first tap and width
  for (uint32_t place = 0; place < places; ++place) {
    const uint32_t start = place * sizes.stride, skipped = start < sizes.pad() ? sizes.pad() - start : 0;
    const uint32_t first = start + skipped - sizes.pad();
    const uint32_t width = std::min(taps - skipped, in.width - first);
    auto& [weight, frames] = windows[{skipped, width}];
    if (frames.width == 0) {
      std::vector<float> rows;
      for (size_t c = 0; c < channels; ++c) {
        for (size_t t = 0; t < taps; ++t) {
          for (size_t j = 0; j < width; ++j) rows.push_back(all[(c * taps + t) * taps + skipped + j]);
        }
      }
      const std::string label = fmt::format("subsampling.0.{}.{}", skipped, width);
      weight = builder.add_weight({label, DType::f32, false, channels, taps * width, {}, std::move(rows)});
      frames = builder.new_value(taps * width, Unit::token);
    }
    builder.add(FramesNode{taps, sizes.pad(), columns(in, first, width), frames});
    builder.add(LinearNode{weight, bias, Activation::relu, frames, columns(out, place * channels, channels),
                           std::nullopt});
  }
  return out;
}

/// A depthwise convolution and a linear of each place.
View further_conv(TransformerBuilder& builder, const ParakeetSizes& sizes, const std::string& label,
                  const std::string& depthwise, const std::string& pointwise, View in) {
  TensorSet& tensors = builder.tensors();
  const uint32_t taps = sizes.taps, channels = sizes.channels, places = sizes.places(in.width / channels);
  const std::vector<float> stored = tensors.table(depthwise + ".weight", channels, taps * taps);
  std::vector<float> weight(stored.size());
  for (size_t c = 0; c < channels; ++c) {
    for (size_t tap = 0; tap < taps * taps; ++tap) weight[tap * channels + c] = stored[c * taps * taps + tap];
  }
  const int32_t table =
      builder.add_weight({label, DType::f32, true, taps * taps, channels, {}, std::move(weight)});
  const int32_t bias = builder.add_vector(label + ".bias", tensors.vector(depthwise + ".bias", channels));
  builder.enter_groups(sizes.stride, taps - 2 * sizes.pad());
  const View sums = builder.new_value(places * channels, Unit::token);
  builder.add(DepthwiseConvNode{channels, taps, sizes.pad(), taps, sizes.pad(), sizes.stride,
                                Activation::none, table, bias, in, sums});
  const View out = builder.new_value(sums.width, Unit::token);
  const int32_t mixing = builder.add_weight({label + ".mix",
                                             DType::f32,
                                             false,
                                             channels,
                                             channels,
                                             {},
                                             tensors.table(pointwise + ".weight", channels, channels)});
  const int32_t mixing_bias =
      builder.add_vector(label + ".mix.bias", tensors.vector(pointwise + ".bias", channels));
  for (uint32_t place = 0; place < places; ++place) {
    builder.add(LinearNode{mixing, mixing_bias, Activation::relu, columns(sums, place * channels, channels),
                           columns(out, place * channels, channels), std::nullopt});
  }
  return out;
}

View build_subsampling(TransformerBuilder& builder, const ParakeetSizes& sizes) {
  const std::string base = "encoder.subsampling.";
  View x = first_conv(builder, sizes, base + "layers.0", builder.input(sizes.mels));
  for (uint32_t i = 1; i < sizes.convs; ++i) {
    const uint32_t layer = 3 * i - 1;
    x = further_conv(builder, sizes, fmt::format("subsampling.{}", i),
                     fmt::format("{}layers.{}", base, layer), fmt::format("{}layers.{}", base, layer + 1), x);
  }
  // The source's columns go by channels, x's by places.
  const uint32_t channels = sizes.channels, places = x.width / channels;
  const std::vector<float> stored = builder.tensors().table(base + "linear.weight", sizes.width, x.width);
  std::vector<float> weight(stored.size());
  for (size_t row = 0; row < sizes.width; ++row) {
    for (size_t c = 0; c < channels; ++c) {
      for (size_t place = 0; place < places; ++place)
        weight[row * x.width + place * channels + c] = stored[row * x.width + c * places + place];
    }
  }
  WeightPart part = builder.tensors().computed("subsampling.linear", sizes.width, x.width, weight);
  const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
  const View out = builder.new_value(sizes.width, Unit::token);
  BlockInput in{x};
  builder.linears("", in,
                  {Projection{"subsampling.linear",
                              {std::move(part)},
                              dtype,
                              builder.tensors().vector(base + "linear.bias", sizes.width)}},
                  out, Activation::none, std::nullopt);
  builder.scale(out, sizes.input_scale);
  return out;
}

/// relative_k_proj of the sines and cosines of distances t - p, from reach - 1 down: [2 reach - 1, width].
std::vector<float> relative_keys(TensorSet& tensors, const std::string& source, const ParakeetSizes& sizes) {
  const uint32_t width = sizes.width;
  charge_table({2, sizes.reach, width});
  const std::vector<float> weight = tensors.table(source + ".weight", width, width);
  std::vector<float> keys, sines(width);
  for (int64_t distance = int64_t{sizes.reach} - 1; distance > -int64_t{sizes.reach}; --distance) {
    for (uint32_t i = 0; i < width; i += 2) {
      const auto frequency = static_cast<float>(std::pow(10000.0, -static_cast<double>(i) / width));
      const float angle = static_cast<float>(distance) * frequency;
      sines[i] = std::sin(angle);
      sines[i + 1] = std::cos(angle);
    }
    for (size_t row = 0; row < width; ++row) {
      float sum = 0.0f;
      for (size_t i = 0; i < width; ++i) sum += weight[row * width + i] * sines[i];
      keys.push_back(sum);
    }
  }
  return keys;
}

/// A block's branches.
class ParakeetBlock : ConformerParts {
 public:
  ParakeetBlock(TransformerBuilder& builder, const LayerSpec& layer, const ParakeetSizes& sizes)
      : ConformerParts(builder, layer), sizes_(sizes) {}

  void ffn(const std::string& name) {
    add_half_ffn("norm_" + name, name + ".linear1", name + ".linear2", sizes_.bias);
  }

  /// Queries are stored with bias_u; what bias_v adds to their products with relative keys is constant.
  void attention() {
    const uint32_t width = sizes_.width, heads = layer_.attention.heads, head_dim = layer_.attention.head_dim;
    TensorSet& tensors = builder_.tensors();
    BlockInput normed{norm("norm_self_att")};
    const View all = builder_.new_value(3 * width, Unit::token);
    std::vector<float> u = tensors.table(source_ + "self_attn.bias_u", heads, head_dim),
                       v = tensors.table(source_ + "self_attn.bias_v", heads, head_dim);
    std::vector<Projection> qkv;
    for (const char* name : {"q", "k", "v"}) {
      qkv.push_back(builder_.projection(name, source_ + "self_attn." + name + "_proj", width, width,
                                        Role::matrix, sizes_.bias));
    }
    if (!qkv[0].bias) qkv[0].bias.emplace(width);
    for (uint32_t i = 0; i < width; ++i) {
      (*qkv[0].bias)[i] += u[i];
      v[i] -= u[i];
    }
    builder_.linears(prefix_, normed, std::move(qkv), all, Activation::none, std::nullopt);
    const View q = columns(all, 0, width);
    const View bias = distances(relative_keys(tensors, source_ + "self_attn.relative_k_proj", sizes_), v, q);
    const View out =
        builder_.attend_heads(layer_, q, columns(all, width, width), columns(all, 2 * width, width), bias);
    add("self_attn.o_proj", out, sizes_.bias);
  }

  void convolution() {
    const uint32_t width = sizes_.width;
    const View normed = norm("norm_conv"), both = builder_.new_value(2 * width, Unit::token);
    const View value = columns(both, 0, width);
    linear("conv.pointwise_conv1", normed, both, Activation::none, sizes_.conv_bias);
    builder_.add(GateNode{Activation::sigmoid, columns(both, width, width), value, value});
    const DepthwiseSpec conv = {
        source_ + "conv.depthwise_conv", source_ + "conv.norm", sizes_.block_taps,
        (sizes_.block_taps - 1) / 2,     sizes_.conv_bias,      layer_.ffn.activation};
    add("conv.pointwise_conv2", depthwise_conv(builder_, prefix_ + "conv", conv, value), sizes_.conv_bias);
  }

  void end() { norm_x("norm_out", "norm_out"); }

 private:
  /// scale * (q + shift) keys, for each head.
  View distances(const std::vector<float>& keys, const std::vector<float>& shift, View q) {
    const uint32_t heads = layer_.attention.heads, width = layer_.attention.head_dim;
    const uint32_t cols = 2 * sizes_.reach - 1;
    const float scale = layer_.attention.scale;
    const View out = builder_.new_value(heads * cols, Unit::token);
    for (uint32_t head = 0; head < heads; ++head) {
      std::vector<float> rows(size_t{cols} * width), bias(cols);
      for (size_t i = 0; i < cols; ++i) {
        for (size_t j = 0; j < width; ++j) {
          const float key = scale * keys[i * sizes_.width + head * width + j];
          rows[i * width + j] = key;
          bias[i] += key * shift[head * width + j];
        }
      }
      const std::string label = fmt::format("{}distances.{}", prefix_, head);
      WeightPart part = builder_.tensors().computed(label, cols, width, rows);
      const DType dtype = builder_.policy().dtype(Role::matrix, *part.tensor);
      BlockInput input{columns(q, head * width, width)};
      builder_.linears("", input, {Projection{label, {std::move(part)}, dtype, bias}},
                       columns(out, head * cols, cols), Activation::none, std::nullopt);
    }
    return out;
  }

  const ParakeetSizes& sizes_;
};

ParakeetSizes read_parakeet_sizes(Config& encoder) {
  ParakeetSizes sizes{};
  sizes.width = encoder.size("hidden_size", 2, kMaxSize, 1024);
  sizes.mels = encoder.size("num_mel_bins", 1, 4096, 80);
  sizes.channels = encoder.size("subsampling_conv_channels", 1, kMaxSize, 256);
  sizes.taps = encoder.size("subsampling_conv_kernel_size", 1, 63, 3);
  sizes.stride = encoder.size("subsampling_conv_stride", 1, 16, 2);
  const uint32_t factor = encoder.size("subsampling_factor", 2, 256, 8);
  for (uint32_t left = factor; left > 1; left /= 2) ++sizes.convs;
  sizes.block_taps = encoder.size("conv_kernel_size", 1, 4096, 9);
  sizes.bias = encoder.flag("attention_bias", true);
  sizes.conv_bias = encoder.flag("convolution_bias", true);
  sizes.reach = std::min(kMostReach, encoder.size("max_position_embeddings", 1, kMaxSize, 5000));
  sizes.input_scale = encoder.flag("scale_input", true)
                          ? static_cast<float>(std::sqrt(static_cast<double>(sizes.width)))
                          : 1.0f;
  uint32_t places = sizes.mels, expected = sizes.mels, tokens = 1;
  for (uint32_t i = 0; i < sizes.convs; ++i, expected /= sizes.stride, tokens *= sizes.stride)
    places = sizes.places(places);
  if (factor != 1u << sizes.convs || sizes.taps % 2 == 0 || sizes.block_taps % 2 == 0 ||
      sizes.width % 2 != 0 || places != expected || places == 0 || tokens > 4096)
    encoder.refuse("a subsampling of {} mels by {} with kernels of {} and blocks of {} taps is not supported",
                   sizes.mels, factor, sizes.taps, sizes.block_taps);
  return sizes;
}

}  // namespace

TransformerSpec read_parakeet_encoder(const Source& source, Config& config, uint32_t vocab) {
  const nlohmann::json* inner = config.value("encoder_config");
  if (inner == nullptr || !inner->is_object()) config.refuse_value("encoder_config", inner, "an object");
  Config encoder = config.inner(*inner, "encoder_config.");
  const ParakeetSizes sizes = read_parakeet_sizes(encoder);
  TransformerSpec spec;
  spec.vocab = vocab;
  spec.width = sizes.width;
  spec.context = sizes.reach;
  for (uint32_t i = 0; i < sizes.convs; ++i) spec.context *= sizes.stride;
  set_layer_norms(kBlockNormEps, spec);
  spec.tied_embedding = false;
  spec.sound = SoundSpec{};
  spec.sound->waveform = false;
  spec.sound->features = SoundFeatures::normalized_log_mel;
  spec.sound->bins = sizes.mels;
  spec.sound->fft = 512;
  spec.sound->hop = 160;
  spec.sound->window = 400;
  spec.sound->scale = 0.97f;
  spec.sound->longest = 30.0f;
  check_parakeet_settings(source, *spec.sound);
  spec.stem = [sizes](TransformerBuilder& builder) { return build_subsampling(builder, sizes); };
  LayerSpec layer;
  layer.attention = equal_heads(encoder, sizes.width, encoder.size("num_attention_heads", 1, kMaxSize, 8),
                                "hidden_size", "num_attention_heads");
  const uint32_t kv_heads = encoder.size("num_key_value_heads", 1, kMaxSize, layer.attention.heads);
  if (kv_heads != layer.attention.heads) encoder.refuse("num_key_value_heads {} is not supported", kv_heads);
  layer.ffn = {Ffn::plain, read_activation(encoder, "hidden_act", "silu"),
               encoder.size("intermediate_size", 1, kMaxSize, 4096), sizes.bias};
  layer.names.q = "encoder.layers.{}.";
  layer.build = [sizes](TransformerBuilder& builder, const LayerSpec& own) {
    ParakeetBlock block(builder, own, sizes);
    block.ffn("feed_forward1");
    block.attention();
    block.convolution();
    block.ffn("feed_forward2");
    block.end();
  };
  spec.repeat(layer, encoder.size("num_hidden_layers", 1, kMaxLayers, 24));
  for (const char* key : {"activation_dropout", "dropout", "dropout_positions", "layerdrop"})
    encoder.value(key);
  encoder.finish();
  return spec;
}

TransformerSpec read_parakeet_ctc(const Source& source, Config& config) {
  TransformerSpec spec = read_parakeet_encoder(source, config, config.size("vocab_size", 1, kMaxSize, 1025));
  spec.sound->blank = config.token_id("pad_token_id", spec.vocab, spec.vocab - 1);
  for (const char* key : {"architectures", "ctc_loss_reduction", "ctc_zero_infinity"}) config.value(key);
  spec.head.kind = OutputKind::token_labels;
  spec.head.output = "ctc_head";
  spec.head.width = spec.vocab;
  spec.head.labels = numbered_labels(source, spec.vocab);
  return spec;
}

}  // namespace mote::convert
