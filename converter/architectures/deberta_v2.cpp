// SPDX-License-Identifier: Apache-2.0
//
// DeBERTa v2 and v3 (He et al. 2020, 2021): BERT whose scores have products of content with positions, by
// distance, in both directions; of some a convolution beside the first layer.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/relative_attention.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// The parts of scores besides the products of contents.
struct Disentangled {
  bool content_to_position = false, position_to_content = false;
  bool shares_projections = false;  // the layer's own of queries and keys are those of positions too
  bool normalizes = false;          // the embedding of distances
  uint32_t span = 0;                // rows of that embedding for each direction
  uint32_t buckets = 0;             // 0: distances are their own
  uint32_t farthest = 0;
  uint32_t reach = 0;
  float norm_eps = 0;
  std::string base;
};

/// The bucket of a distance: near ones are their own, far ones grow by their logarithm, in f32 as the
/// original computes it.
int32_t log_bucket(int32_t distance, uint32_t buckets, uint32_t farthest) {
  const int32_t middle = static_cast<int32_t>(buckets / 2), size = std::abs(distance);
  if (size <= middle) return distance;
  const float share = std::log(static_cast<float>(size) / static_cast<float>(middle)) /
                      std::log(static_cast<float>((farthest - 1.0) / middle));
  const float bucket = std::ceil(share * static_cast<float>(middle - 1)) + static_cast<float>(middle);
  return distance < 0 ? -static_cast<int32_t>(bucket) : static_cast<int32_t>(bucket);
}

void normalize_rows(std::vector<float>& rows, const std::vector<float>& weight,
                    const std::vector<float>& bias, float eps) {
  const size_t width = weight.size();
  for (size_t first = 0; first < rows.size(); first += width) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; ++i) mean += double{rows[first + i]} / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i)
      variance += std::pow(double{rows[first + i]} - mean, 2) / static_cast<double>(width);
    const double scale = 1.0 / std::sqrt(variance + double{eps});
    for (size_t i = 0; i < width; ++i)
      rows[first + i] =
          static_cast<float>((double{rows[first + i]} - mean) * scale * double{weight[i]} + double{bias[i]});
  }
}

RelativeSpec tables_of(const Disentangled& kind, TransformerBuilder& builder, const LayerSpec& layer) {
  TensorSet& tensors = builder.tensors();
  const uint32_t width = layer.attention.q_width();
  std::vector<float> rows = tensors.table(kind.base + "encoder.rel_embeddings.weight", 2 * kind.span, width);
  if (kind.normalizes) {
    const std::string norm = kind.base + "encoder.LayerNorm";
    normalize_rows(rows, tensors.vector(norm + ".weight", width), tensors.vector(norm + ".bias", width),
                   kind.norm_eps);
  }
  const auto row_of = [&kind](int32_t key_minus_query) {
    const int32_t distance = -key_minus_query, span = static_cast<int32_t>(kind.span);
    const int32_t bucket = kind.buckets == 0 ? distance : log_bucket(distance, kind.buckets, kind.farthest);
    return static_cast<uint32_t>(std::clamp(span + bucket, 0, 2 * span - 1));
  };
  const std::string prefix = kind.base + "encoder.layer.{}.attention.self.";
  const auto table = [&](const char* own, const std::string& shared) {
    const std::string source = of_layer(kind.shares_projections ? shared : prefix + own, layer);
    const std::vector<float> projected =
        project_rows(rows, width, tensors.table(source + ".weight", width, width),
                     tensors.vector(source + ".bias", width));
    return by_distance(projected, width, kind.reach, row_of);
  };
  RelativeSpec relative;
  if (kind.content_to_position) relative.keys = table("pos_key_proj", layer.names.k);
  if (kind.position_to_content) relative.queries = table("pos_query_proj", layer.names.q);
  return relative;
}

void read_position_kinds(Config& config, Disentangled& kind) {
  const nlohmann::json* types = config.value("pos_att_type");
  std::vector<std::string> names;
  if (types != nullptr && types->is_string()) {
    const std::string text = types->get<std::string>() + "|";
    for (size_t begin = 0, end; (end = text.find('|', begin)) != std::string::npos; begin = end + 1)
      names.push_back(text.substr(begin, end - begin));
  } else if (types != nullptr && types->is_array()) {
    for (const nlohmann::json& type : *types)
      names.push_back(type.is_string() ? type.get<std::string>() : "");
  } else if (types != nullptr) {
    config.refuse_value("pos_att_type", types, "a list of c2p and p2c");
  }
  for (const std::string& name : names) {
    if (name != "c2p" && name != "p2c") config.refuse_value("pos_att_type", types, "a list of c2p and p2c");
    (name == "c2p" ? kind.content_to_position : kind.position_to_content) = true;
  }
}

/// A key of older checkpoints that may be -1 for none.
uint32_t size_or_none(Config& config, const char* key) {
  const double value = config.number(key, -1);
  if (value < 1) return 0;
  if (value > kMaxSize || value != std::floor(value)) config.refuse("{} is {}", key, value);
  return static_cast<uint32_t>(value);
}

void read_distances(Config& config, const std::string& base, TransformerSpec& spec) {
  Disentangled kind;
  kind.base = base;
  kind.norm_eps = spec.norm_eps;
  read_position_kinds(config, kind);
  kind.shares_projections = config.flag("share_att_key", false);
  const std::string norm = config.text("norm_rel_ebd", "none");
  if (norm != "none" && norm != "layer_norm")
    config.refuse("norm_rel_ebd {} is not supported; supported are none, layer_norm", norm);
  kind.normalizes = norm == "layer_norm";
  kind.farthest = size_or_none(config, "max_relative_positions");
  if (kind.farthest == 0) kind.farthest = spec.position_rows;
  kind.buckets = size_or_none(config, "position_buckets");
  if (kind.buckets != 0 && (kind.buckets < 4 || kind.farthest <= kind.buckets / 2 + 1))
    config.refuse("position_buckets {} for distances up to {}", kind.buckets, kind.farthest);
  kind.span = kind.buckets != 0 ? kind.buckets : kind.farthest;
  kind.reach = relative_reach(spec.context);
  const int kinds = 1 + (kind.content_to_position ? 1 : 0) + (kind.position_to_content ? 1 : 0);
  const bool relative = config.flag("relative_attention", false);
  for (LayerSpec& layer : spec.layers) {
    layer.attention.scale = static_cast<float>(1.0 / std::sqrt(double{1} * layer.attention.head_dim * kinds));
    if (!relative || kinds == 1) continue;
    layer.attention.relative = [kind](TransformerBuilder& builder, const LayerSpec& own) {
      return tables_of(kind, builder, own);
    };
  }
  if (!config.flag("position_biased_input", true)) spec.names.positions.clear();
}

/// The first layer's output is norm(output + activation(convolution of its input)).
void read_convolution(Config& config, const std::string& base, TransformerSpec& spec) {
  if (!config.has("conv_kernel_size")) return;
  const uint32_t taps = config.size("conv_kernel_size", 0, 64);
  if (taps == 0) return;
  if (taps % 2 == 0) config.refuse("conv_kernel_size {} is even", taps);
  if (config.size("conv_groups", 1, kMaxSize, 1) != 1) config.refuse("conv_groups is not 1");
  const Activation activation = read_activation(config, "conv_act", "tanh");
  const std::string source = base + "encoder.conv.";
  spec.layers[0].build = [taps, activation, source](TransformerBuilder& builder, const LayerSpec& own) {
    const View before = builder.new_value(builder.x().width, Unit::token);
    builder.add(ScaleRowsNode{builder.x(), before});
    builder.layer(own);
    const View x = builder.x(), frames = builder.new_value(taps * x.width, Unit::token);
    builder.add(FramesNode{taps, taps / 2, before, frames});
    const std::vector<float> taps_last =
        builder.tensors().table(source + "conv.weight", x.width, x.width * taps);
    std::vector<float> weight(taps_last.size());  // [width, taps, width] of [width, width, taps]
    for (size_t row = 0; row < x.width; ++row) {
      for (size_t col = 0; col < x.width; ++col) {
        for (size_t tap = 0; tap < taps; ++tap)
          weight[(row * taps + tap) * x.width + col] = taps_last[(row * x.width + col) * taps + tap];
      }
    }
    WeightPart part = builder.tensors().computed(source + "conv.weight", x.width, frames.width, weight);
    const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
    BlockInput input{frames};
    builder.linears(
        "", input,
        {{"convolution", {std::move(part)}, dtype, builder.tensors().vector(source + "conv.bias", x.width)}},
        x, activation, x);
    builder.norm("convolution_norm", source + "LayerNorm", x, x);
  };
}

}  // namespace

TransformerSpec read_deberta_v2(const Source& source, Config& config) {
  const std::string base = base_of(source, "deberta.");
  const BertDefaults defaults{.vocab = 128100,
                              .width = 1536,
                              .heads = 24,
                              .ffn_width = 6144,
                              .token_types = 0,
                              .eps = 1e-7,
                              .layers = 24};
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  if (config.size("embedding_size", 1, kMaxSize, spec.width) != spec.width)
    config.refuse("embedding_size is not hidden_size");
  if (config.has("attention_head_size") &&
      config.size("attention_head_size", 1, kMaxSize) != spec.layers[0].attention.head_dim)
    config.refuse("attention_head_size is not hidden_size / num_attention_heads");
  const LayerNames names =
      post_norm_names(base + "encoder.layer.{}.",
                      {"attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj",
                       "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
                       "output.dense", "output.LayerNorm"});
  for (LayerSpec& layer : spec.layers) layer.names = names;
  read_distances(config, base, spec);
  read_convolution(config, base, spec);
  HeadNames heads;
  heads.base = base;
  heads.classifier = {"pooler.dense", "", read_activation(config, "pooler_hidden_act", "gelu"), spec.width};
  if (config.size("pooler_hidden_size", 1, kMaxSize, spec.width) != spec.width)
    config.refuse("pooler_hidden_size is not hidden_size");
  if (config.flag("legacy", true)) set_bert_masked(spec, heads);
  read_head(source, config, heads, spec);
  for (const char* start : {"lm_predictions.", "mask_predictions.", "pooler."}) {
    if (spec.head.kind == OutputKind::hidden || spec.head.kind == OutputKind::embedding)
      spec.names.ignored_starts.push_back(start);
  }
  spec.names.ignored_starts.push_back(base + "encoder.rel_embeddings.");
  return spec;
}

}  // namespace mote::convert
