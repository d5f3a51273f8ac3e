// SPDX-License-Identifier: Apache-2.0
//
// Queries, keys and values of a layer: their matrices, norms and RoPE.
#include <fmt/format.h>

#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Takes the second rows of a projection whose rows are pairs of `head_dim` rows, and leaves the first.
Projection take_second_halves(uint32_t head_dim, Projection& both) {
  const WeightPart whole = both.parts[0];
  if (whole.transposed) fail("tensor {} is transposed and has the rows of heads side by side", whole.name);
  const std::optional<std::vector<float>> bias = std::move(both.bias);
  Projection second = both;
  second.label = both.label + "_gate";
  Projection* const halves[] = {&both, &second};
  for (uint32_t half = 0; half < 2; ++half) {
    Projection& one = *halves[half];
    one.parts.clear();
    one.bias.reset();
    if (bias) one.bias.emplace();
    for (uint32_t row = half * head_dim; row < whole.rows; row += 2 * head_dim) {
      WeightPart part = whole;
      part.first_row = row;
      part.rows = head_dim;
      one.parts.push_back(part);
      if (bias) one.bias->insert(one.bias->end(), bias->begin() + row, bias->begin() + row + head_dim);
    }
  }
  return second;
}

}  // namespace

/// The fused matrix with the rows of all queries first, then those of keys, then those of values.
Projection TransformerBuilder::fused_qkv(const LayerSpec& layer, uint32_t in_width) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t ratio = attention.heads / attention.kv_heads, head_dim = attention.head_dim;
  const uint32_t rows = attention.q_width() + attention.k_width() + attention.v_width();
  Projection fused =
      projection("qkv", of_layer(layer.names.qkv, layer), rows, in_width, Role::matrix, attention.qkv_bias);
  if (!attention.qkv_by_group) return fused;
  const WeightPart whole = fused.parts[0];
  if (whole.transposed) fail("tensor {} is transposed and has the rows of heads side by side", whole.name);
  const std::optional<std::vector<float>> bias = std::move(fused.bias);
  fused.parts.clear();
  if (bias) fused.bias.emplace();
  const auto take = [&](uint32_t group, uint32_t first_head, uint32_t heads) {
    WeightPart part = whole;
    part.first_row = (group * (ratio + 2) + first_head) * head_dim;
    part.rows = heads * head_dim;
    const auto from = bias ? bias->begin() + part.first_row : std::vector<float>::const_iterator();
    if (bias) fused.bias->insert(fused.bias->end(), from, from + part.rows);
    fused.parts.push_back(std::move(part));
  };
  for (uint32_t group = 0; group < attention.kv_heads; ++group) take(group, 0, ratio);
  for (uint32_t group = 0; group < attention.kv_heads; ++group) take(group, ratio, 1);
  for (uint32_t group = 0; group < attention.kv_heads; ++group) take(group, ratio + 1, 1);
  return fused;
}

View TransformerBuilder::qkv(const LayerSpec& layer, BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t q_width = attention.q_width(), k_width = attention.k_width(), v_width = attention.v_width();
  std::vector<Projection> projections;
  const auto project = [&](const char* label, const std::string& name, uint32_t rows) {
    projections.push_back(
        projection(label, of_layer(name, layer), rows, in.f32.width, Role::matrix, attention.qkv_bias));
  };
  const bool shares = attention.shared != kNone, fused = !layer.names.qkv.empty();
  const bool of_keys = !shares && !fused && layer.names.v.empty();
  const uint32_t gates = attention.q_has_gate ? q_width : 0;
  const View out = new_value(q_width + (shares ? 0 : k_width + v_width) + gates, Unit::token);
  std::optional<Projection> gate;
  if (fused) {
    projections.push_back(fused_qkv(layer, in.f32.width));
  } else {
    project("q", layer.names.q, q_width + gates);
    if (gates != 0) gate = take_second_halves(attention.head_dim, projections[0]);
    if (!shares) project("k", layer.names.k, k_width);
    if (!shares && !of_keys) project("v", layer.names.v, v_width);
  }
  if (gate) projections.push_back(std::move(*gate));
  linears(prefix_of(layer), in, std::move(projections), out, Activation::none, std::nullopt);
  if (of_keys) add(ScaleRowsNode{columns(out, q_width, k_width), columns(out, q_width + k_width, v_width)});
  return out;
}

/// `name` is of a norm of q or k.
void TransformerBuilder::norm_head(const LayerSpec& layer, const char* label, const std::string& name,
                                   uint32_t heads, View x) {
  const std::string source = of_layer(name, layer), to = prefix_of(layer) + label;
  if (layer.attention.head_norm != HeadNorm::layer_own) {
    const HeadNorm kind = layer.attention.head_norm;
    const bool whole = kind != HeadNorm::rms;
    return norm(kind == HeadNorm::layer_whole ? NormKind::layer : NormKind::rms, to, source,
                whole ? 1 : heads, x, x);
  }
  const uint32_t width = x.width / heads;
  std::vector<float> weights;  // in one matrix (Cohere), or a vector for each head (StableLM)
  if (tensors_.has(source + ".weight")) {
    weights = tensors_.table(source + ".weight", heads, width);
  } else {
    for (uint32_t head = 0; head < heads; ++head) {
      const std::vector<float> own = tensors_.vector(fmt::format("{}.norms.{}.weight", source, head), width);
      weights.insert(weights.end(), own.begin(), own.end());
    }
  }
  norm(NormKind::layer, to, kUnweighted, heads, x, x);
  add(ScaleRowsNode{x, x, add_vector(to, std::move(weights))});
}

void TransformerBuilder::norm_heads(const LayerSpec& layer, View q, std::optional<View> k) {
  if (layer.names.q_norm.empty()) return;
  norm_head(layer, "q_norm", layer.names.q_norm, layer.attention.heads, q);
  if (k) norm_head(layer, "k_norm", layer.names.k_norm, layer.attention.kv_heads, *k);
}

void TransformerBuilder::turn(uint32_t rope, uint32_t heads, View x) {
  if (rope != kNone) add(RopeNode{spec_.ropes[rope].kind, heads, rope_tables_[rope], x});
}

}  // namespace mote::convert
