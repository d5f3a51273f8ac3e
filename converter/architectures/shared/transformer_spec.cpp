// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/transformer_spec.h"

#include <cmath>

#include "host/base/error.h"

namespace mote::convert {
namespace {

/// A multiplier of 0 would drop what it multiplies.
bool is_multiplier(float factor) { return std::isfinite(factor) && factor != 0.0f; }

bool is_over_vocabulary(OutputKind kind) {
  return kind == OutputKind::next_token || kind == OutputKind::masked_token;
}

void check_multipliers(const TransformerSpec& spec) {
  if (!is_multiplier(spec.embedding_multiplier)) fail("embedding multiplier {}", spec.embedding_multiplier);
  if (!is_multiplier(spec.logit_multiplier)) fail("logit multiplier {}", spec.logit_multiplier);
  if (spec.logit_multiplier != 1.0f && !is_over_vocabulary(spec.head.kind))
    fail("logit multiplier {} of an output that has no logits over the vocabulary", spec.logit_multiplier);
}

void check_attention(const TransformerSpec& spec, uint32_t index, const AttentionSpec& attention) {
  const uint32_t heads = attention.heads, kv_heads = attention.kv_heads, head_dim = attention.head_dim;
  if (heads == 0 || kv_heads == 0 || head_dim == 0)
    fail("layer {} has {} heads, {} heads of keys and values, head_dim {}", index, heads, kv_heads, head_dim);
  if (heads % kv_heads != 0)
    fail("layer {}: {} heads are not a multiple of {} heads of keys and values", index, heads, kv_heads);
  if (!std::isfinite(attention.scale)) fail("layer {}: attention scale {}", index, attention.scale);
  if (attention.window != 0 && spec.is_encoder())
    fail("layer {} has a window of {}; encoders have none", index, attention.window);
  if (attention.sides != 0 && !spec.is_encoder())
    fail("layer {} sees {} tokens behind each; decoders see none", index, attention.sides);
  if (attention.rope != kNone) {
    if (attention.rope >= spec.ropes.size())
      fail("layer {} has rope {} of {}", index, attention.rope, spec.ropes.size());
    const size_t rotated = 2 * spec.ropes[attention.rope].frequencies.size();
    if (rotated > head_dim)
      fail("layer {}: rope {} rotates {} columns, head_dim is {}", index, attention.rope, rotated, head_dim);
  }
  if (!attention.slopes.empty() && attention.slopes.size() != heads)
    fail("layer {} has {} slopes for {} heads", index, attention.slopes.size(), heads);
  if (attention.query_rope != kNone && attention.query_rope >= spec.ropes.size())
    fail("layer {} has rope {} of {}", index, attention.query_rope, spec.ropes.size());
  if (attention.bias != kNone) {
    if (attention.bias >= spec.attention_biases.size())
      fail("layer {} has attention bias {} of {}", index, attention.bias, spec.attention_biases.size());
    const size_t values = spec.attention_biases[attention.bias].size();
    const uint64_t context = spec.context, rows = spec.most_layer_rows();
    const uint64_t expected = heads * (spec.biases_by_position ? context * context : 2 * rows - 1);
    if (values != expected)
      fail("layer {}: attention bias {} has {} values, expected {}", index, attention.bias, values, expected);
  }
}

void check_names(uint32_t index, const LayerSpec& layer) {
  const LayerNames& names = layer.names;
  const auto require = [index](bool named, const char* weight) {
    if (!named) fail("layer {} has no name for {}", index, weight);
  };
  const bool shares = layer.attention.shared != kNone;
  require(!names.qkv.empty() || (!names.q.empty() && (shares || !names.k.empty())), "q and k");
  if (shares && layer.attention.shared >= index)
    fail("layer {} shares the keys and values of layer {}", index, layer.attention.shared);
  require(names.q_norm.empty() == names.k_norm.empty(), "one of the norms of q and k");
  require(!names.o.empty(), "o");
  const bool fused = layer.ffn.kind == Ffn::gated && !names.gate_up.empty();
  require(fused || layer.ffn.kind == Ffn::plain || !names.gate.empty(), "gate");
  require(fused || !names.up.empty(), "up");
  require(!names.down.empty(), "down");
  if (layer.branches == Branches::parallel && !names.attention_norms.sum.empty())
    fail("layer {} is parallel: the norm of its sum is the feed-forward's, not the attention's", index);
}

}  // namespace

void TransformerSpec::repeat(const LayerSpec& layer, uint32_t count) {
  layers.assign(count, layer);
  for (uint32_t i = 0; i < count; ++i) layers[i].weights = i;
}

void check_spec(const TransformerSpec& spec) {
  if (spec.layers.empty()) fail("the model has no layers");
  check_multipliers(spec);
  for (uint32_t index = 0; index < spec.layers.size(); ++index) {
    const LayerSpec& layer = spec.layers[index];
    if (layer.build) continue;
    check_attention(spec, index, layer.attention);
    if (layer.cross) {
      check_attention(spec, index, layer.cross->attention);
      if (!spec.source) fail("layer {} attends to a source, but there is none", index);
    }
    if (layer.ffn.width == 0) fail("layer {} has a feed-forward of width 0", index);
    if (!is_multiplier(layer.residual_multiplier))
      fail("layer {}: residual multiplier {}", index, layer.residual_multiplier);
    check_names(index, layer);
  }
}

}  // namespace mote::convert
