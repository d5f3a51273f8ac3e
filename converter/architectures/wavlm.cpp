// SPDX-License-Identifier: Apache-2.0
//
// WavLM (Chen et al. 2022): wav2vec 2.0 whose scores have a bias by distance, which each query scales by a
// gate of its own.
#include <algorithm>
#include <cmath>

#include "converter/architectures/wav2vec2.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kWavlmRows = 1u << 16;  // of samples: 20 seconds; a query's biases reach as far

/// The biases that the layers share.
struct WavlmBias {
  std::string table;  // the embedding of the first layer's buckets
  uint32_t buckets, furthest, reach;
};

/// The bucket of the distance from a query to a key: exact where it is short, then by its logarithm.
uint32_t wavlm_bucket(int64_t distance, const WavlmBias& bias) {
  const uint32_t half = bias.buckets / 2, exact = half / 2, side = distance > 0 ? half : 0;
  const auto length = static_cast<uint32_t>(distance < 0 ? -distance : distance);
  if (length < exact) return side + length;
  const double ratio = std::log(static_cast<double>(bias.furthest) / exact);
  const float scaled = std::log(static_cast<float>(length) / static_cast<float>(exact)) /
                       static_cast<float>(ratio) * static_cast<float>(half - exact);
  return side + std::min(half - 1, exact + static_cast<uint32_t>(scaled));
}

/// Returns for each head the biases of distances 1 - reach to reach - 1.
std::vector<std::vector<float>> wavlm_biases(TensorSet& tensors, const WavlmBias& bias, uint32_t heads) {
  const std::vector<float> table = tensors.table(bias.table, bias.buckets, heads);
  std::vector<std::vector<float>> biases(heads);
  for (int64_t distance = 1 - int64_t{bias.reach}; distance < int64_t{bias.reach}; ++distance) {
    const size_t row = wavlm_bucket(distance, bias);
    for (uint32_t head = 0; head < heads; ++head) biases[head].push_back(table[row * heads + head]);
  }
  return biases;
}

/// a (b c - 1) for each head, of sigmoids a and b of the head's columns of in.
View wavlm_gates(TransformerBuilder& builder, const LayerSpec& layer, const std::string& source, View in) {
  const uint32_t heads = layer.attention.heads, width = layer.attention.head_dim;
  TensorSet& tensors = builder.tensors();
  const std::string linear = source + "gru_rel_pos_linear";
  const std::vector<float> rows = tensors.table(linear + ".weight", 8, width),
                           bias = tensors.vector(linear + ".bias", 8);
  std::vector<float> weight(size_t{2} * heads * in.width), biases(size_t{2} * heads);
  for (size_t row = 0; row < 8; ++row) {
    for (size_t head = 0; head < heads; ++head) {
      const size_t to = row / 4 * heads + head;
      biases[to] += bias[row];
      for (size_t i = 0; i < width; ++i) weight[to * in.width + head * width + i] += rows[row * width + i];
    }
  }
  const std::string label = prefix_of(layer) + "gates";
  WeightPart part = tensors.computed(label, 2 * heads, in.width, weight);
  const View both = builder.new_value(2 * heads, Unit::token);
  const View a = columns(both, 0, heads), b = columns(both, heads, heads);
  const DType dtype = builder.policy().dtype(Role::fine, *part.tensor);
  BlockInput input{in};
  builder.linears("", input, {Projection{label, {std::move(part)}, dtype, biases}}, both, Activation::sigmoid,
                  std::nullopt);
  const int32_t scale =
      builder.add_vector(label + ".scale", tensors.table(source + "gru_rel_pos_const", 1, heads));
  builder.add(ScaleRowsNode{b, b, scale});
  builder.add(GateNode{Activation::none, a, b, b});
  builder.add(ScaleRowsNode{a, b, -1, -1.0f, b});
  return b;
}

/// (gate + 2) times the biases of its head, for each.
View wavlm_row_bias(TransformerBuilder& builder, const std::vector<std::vector<float>>& biases, View gates) {
  const auto cols = static_cast<uint32_t>(biases[0].size());
  const View out = builder.new_value(gates.width * cols, Unit::token);
  for (uint32_t head = 0; head < gates.width; ++head) {
    const std::string label = fmt::format("distances.{}", head);
    std::vector<float> twice = biases[head];
    for (float& value : twice) value *= 2.0f;
    const int32_t weight = builder.add_weight({label, DType::f32, false, cols, 1, {}, biases[head]});
    builder.add(LinearNode{weight, builder.add_vector(label + ".bias", std::move(twice)), Activation::none,
                           columns(gates, head, 1), columns(out, head * cols, cols), std::nullopt});
  }
  return out;
}

void build_wavlm_layer(TransformerBuilder& builder, const LayerSpec& layer, const WavlmBias& bias) {
  const std::string prefix = prefix_of(layer), source = of_layer(layer.names.qkv, layer);
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = builder.branch_input(layer, norms, "attention");
  const uint32_t width = builder.x().width;
  const View gates = wavlm_gates(builder, layer, source, in.f32);
  const View row_bias =
      wavlm_row_bias(builder, wavlm_biases(builder.tensors(), bias, layer.attention.heads), gates);
  const View all = builder.new_value(3 * width, Unit::token);
  std::vector<Projection> qkv;
  for (const auto& [label, name] :
       {std::pair("q", layer.names.q), {"k", layer.names.k}, {"v", layer.names.v}})
    qkv.push_back(builder.projection(label, of_layer(name, layer), width, width, Role::matrix, true));
  builder.linears(prefix, in, std::move(qkv), all, Activation::none, std::nullopt);
  const View heads = builder.attend_heads(layer, columns(all, 0, width), columns(all, width, width),
                                          columns(all, 2 * width, width), row_bias);
  builder.add_branch(layer, norms, "attention", heads, builder.o(layer));
  builder.ffn(layer);
}

}  // namespace

TransformerSpec read_wavlm(const Source& source, Config& config) {
  TransformerSpec spec = read_wav2vec2_like(source, config, true);
  require_no_language_adapters(config);
  const std::string layers = wav2vec2_base(source) + "encoder.layers.";
  WavlmBias bias{layers + "0.attention.rel_attn_embed.weight", config.size("num_buckets", 4, 1u << 16, 320),
                 config.size("max_bucket_distance", 2, kMaxSize, 800), 0};
  if (bias.buckets % 4 != 0 || bias.furthest <= bias.buckets / 4)
    config.refuse("num_buckets {} and max_bucket_distance {} are not supported", bias.buckets, bias.furthest);
  spec.context = kWavlmRows;
  bias.reach = kWavlmRows / spec.sound->row_stride + 1;
  for (LayerSpec& layer : spec.layers) {
    layer.names.qkv = layers + "{}.attention.";
    layer.build = [bias](TransformerBuilder& builder, const LayerSpec& own) {
      build_wavlm_layer(builder, own, bias);
    };
  }
  sum_layers(config, spec);
  return spec;
}

}  // namespace mote::convert
