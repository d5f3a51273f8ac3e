// SPDX-License-Identifier: Apache-2.0
//
// The layers: attention and feed-forward of the residual stream, by their data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr const char kAttention[] = "attention", kFfn[] = "ffn";  // labels of the branches

}  // namespace

std::string of_layer(const std::string& pattern, const LayerSpec& layer) {
  return fmt::format(fmt::runtime(pattern), layer.weights);
}

std::string prefix_of(const LayerSpec& layer) { return of_layer(layer.names.label, layer); }

// ---- Branches ----

BlockInput TransformerBuilder::branch_input(const LayerSpec& layer, const BranchNorms& names,
                                            const std::string& label) {
  if (names.before.empty()) return {x_};
  const View normed = new_value(spec_.width, Unit::token);
  norm(prefix_of(layer) + label + "_norm", of_layer(names.before, layer), x_, normed);
  return {normed};
}

void TransformerBuilder::add_branch(const LayerSpec& layer, const BranchNorms& names,
                                    const std::string& label, View in, Projection last) {
  const std::string prefix = prefix_of(layer);
  BlockInput input{in};
  if (names.after.empty() && names.scale.empty() && layer.residual_multiplier == 1.0f) {
    linears(prefix, input, {std::move(last)}, x_, Activation::none, x_);
    return norm_sum(layer, names, label);
  }
  const View branch = new_value(spec_.width, Unit::token);
  linears(prefix, input, {std::move(last)}, branch, Activation::none, std::nullopt);
  add_output(layer, names, label, branch);
}

void TransformerBuilder::add_output(const LayerSpec& layer, const BranchNorms& names,
                                    const std::string& label, View branch) {
  if (!names.after.empty())
    norm(prefix_of(layer) + label + "_after_norm", of_layer(names.after, layer), branch, branch);
  int32_t scale = -1;
  if (!names.scale.empty()) {
    std::vector<float> factors = tensors_.vector(of_layer(names.scale, layer), spec_.width);
    for (float& factor : factors) factor *= layer.residual_multiplier;
    scale = add_vector(prefix_of(layer) + label + "_scale", std::move(factors));
  }
  add(ScaleRowsNode{branch, x_, scale, layer.residual_multiplier, x_});
  norm_sum(layer, names, label);
}

void TransformerBuilder::norm_sum(const LayerSpec& layer, const BranchNorms& names,
                                  const std::string& label) {
  if (names.sum.empty()) return;
  const char* suffix = names.before.empty() ? "_norm" : "_sum_norm";
  norm(prefix_of(layer) + label + suffix, of_layer(names.sum, layer), x_, x_);
}

uint32_t TransformerBuilder::add_state(const Cache& state) {
  const bool encoder = spec_.is_encoder();
  if (encoder && state.kind != StateKind::kv) {
    fail(
        "labels, scores or vectors of a decoder whose layers go on from a state (convolutions, scans) are "
        "not "
        "supported");
  }
  graph_.caches.push_back(state);
  if (encoder && state.source == -1) graph_.caches.back().bidirectional = true;
  return static_cast<uint32_t>(graph_.caches.size() - 1);
}

// ---- Attention ----

uint32_t TransformerBuilder::cache_of(const AttentionSpec& attention, GridPlaces places) {
  const bool encoder = spec_.is_encoder();
  // A window that holds the whole context is none; its pages are those of the caches without one.
  const uint32_t window = attention.window >= spec_.context ? 0 : attention.window;
  if (encoder) {  // no layer needs another's keys and values: all of one shape share a cache
    const auto same = std::find_if(graph_.caches.begin(), graph_.caches.end(), [&](const Cache& cache) {
      return cache.kv_heads == attention.kv_heads && cache.key_dim == attention.head_dim &&
             cache.value_dim == attention.value_width() && cache.ratio == row_tokens_ &&
             cache.places == places;
    });
    if (same != graph_.caches.end()) return static_cast<uint32_t>(same - graph_.caches.begin());
  }
  graph_.caches.push_back(
      {attention.kv_heads, attention.head_dim, window, encoder, attention.value_width(), row_tokens_});
  graph_.caches.back().places = places;
  return static_cast<uint32_t>(graph_.caches.size() - 1);
}

View TransformerBuilder::attended(const LayerSpec& layer, BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const LayerNames& names = layer.names;
  const uint32_t q_width = attention.q_width(), k_width = attention.k_width(), v_width = attention.v_width();
  const View all = qkv(layer, in), q = columns(all, 0, q_width);
  std::optional<View> k, v;
  if (attention.shared == kNone) {
    k = columns(all, q_width, k_width);
    v = columns(all, q_width + k_width, v_width);
  }
  if (attention.clip != 0.0f) add(ClampNode{-attention.clip, attention.clip, all, all});
  if (!attention.norm_after_rope) norm_heads(layer, q, k);
  turn(attention.query_rope == kNone ? attention.rope : attention.query_rope, attention.heads, q);
  if (k) turn(attention.rope, attention.kv_heads, *k);
  if (attention.norm_after_rope) norm_heads(layer, q, k);
  uint32_t& cache = layer_caches_[layer_index_];
  if (!k) {
    cache = layer_caches_[attention.shared];
    return attend(layer, cache, q);
  }
  if (!names.v_norm.empty()) {
    const std::string source = of_layer(names.v_norm, layer);
    norm(NormKind::rms, prefix_of(layer) + "v_norm", source, attention.kv_heads, *v, *v);
  }
  cache = cache_of(attention);
  add(KvStoreNode{cache, *k, *v});
  const View out = attend(layer, cache, q);
  if (attention.q_has_gate)
    add(GateNode{Activation::sigmoid, columns(all, q_width + k_width + v_width, q_width), out, out});
  if (!names.o_gate.empty()) {
    const View gates = new_value(attention.heads, Unit::token);
    linears(prefix_of(layer), in,
            {projection("o_gate", of_layer(names.o_gate, layer), attention.heads, in.f32.width, Role::matrix,
                        false)},
            gates, Activation::none, std::nullopt);
    add(GateNode{Activation::sigmoid, gates, out, out});
  }
  return out;
}

View TransformerBuilder::attend_heads(const LayerSpec& layer, View q, View k, View v,
                                      std::optional<View> row_bias) {
  const AttentionSpec& attention = layer.attention;
  turn(attention.rope, attention.heads, q);
  turn(attention.rope, attention.kv_heads, k);
  const uint32_t cache = cache_of(attention);
  add(KvStoreNode{cache, k, v});
  return attend(layer, cache, q, row_bias);
}

View TransformerBuilder::attend(const LayerSpec& layer, uint32_t cache, View q,
                                std::optional<View> row_bias) {
  const AttentionSpec& attention = layer.attention;
  const LayerNames& names = layer.names;
  AttentionNode node{cache, attention.heads, attention.scale, q,
                     new_value(attention.out_width(), Unit::token)};
  if (attention.bias != kNone) node.bias = attention_biases_[attention.bias];
  node.sides = attention.sides;
  node.row_bias = row_bias;
  node.causal = attention.causal;
  node.block = attention.block;
  node.random_blocks = attention.random_blocks;
  if (attention.global_keys) node.globals = GlobalRole::keys;
  if (attention.relative) {
    const RelativeSpec relative = attention.relative(*this, layer);
    const auto add_table = [&](const char* label, uint32_t rows, const std::vector<float>& values) {
      const uint32_t cols = static_cast<uint32_t>(values.size() / rows);
      if (values.empty()) return -1;
      return add_weight({prefix_of(layer) + label, DType::f32, true, rows, cols, {}, values});
    };
    node.relative_keys = add_table("relative_keys", attention.q_width(), relative.keys);
    node.relative_queries = add_table("relative_queries", attention.q_width(), relative.queries);
    if (!relative.bias.empty()) node.bias = add_table("relative_bias", attention.heads, relative.bias);
  }
  node.softcap = attention.softcap;
  if (!attention.slopes.empty()) node.slopes = add_vector("attention_slopes", attention.slopes);
  node.slopes_in_bf16 = attention.slopes_in_bf16;
  if (!names.sinks.empty()) {
    node.sinks = add_vector(prefix_of(layer) + "sinks",
                            tensors_.vector(of_layer(names.sinks, layer), attention.heads));
  }
  const View out = node.out;
  add(std::move(node));
  if (!names.o_norm.empty()) norm(prefix_of(layer) + "o_norm", of_layer(names.o_norm, layer), out, out);
  return out;
}

// ---- Feed-forward ----

void TransformerBuilder::add_xielu(const std::string& source, View x) {
  const auto scalar = [&](const char* name) { return tensors_.vector(source + name, 1)[0]; };
  const auto softplus = [](float value) {
    return std::log1p(std::exp(-std::fabs(value))) + std::max(value, 0.0f);
  };
  const float beta = scalar(".beta");
  const float positive = softplus(scalar(".alpha_p")), negative = beta + softplus(scalar(".alpha_n"));
  add(XieluNode{positive, negative, beta, scalar(".eps"), x, x});
}

View TransformerBuilder::ffn_inner(const LayerSpec& layer, BlockInput& in) {
  const FfnSpec& ffn = layer.ffn;
  const std::string prefix = prefix_of(layer);
  const auto project = [&](const char* label, const std::string& name) {
    return projection(label, of_layer(name, layer), ffn.width, in.f32.width, Role::matrix, ffn.bias);
  };
  View inner{};
  if (ffn.kind == Ffn::plain) {
    inner = new_value(ffn.width, Unit::token);
    linears(prefix, in, {project("up", layer.names.up)}, inner, ffn.activation, std::nullopt);
    if (ffn.squared) add(GateNode{Activation::none, inner, inner, inner});
    if (!layer.names.xielu.empty()) add_xielu(of_layer(layer.names.xielu, layer), inner);
  } else {
    const View both = new_value(2 * ffn.width, Unit::token), up = columns(both, ffn.width, ffn.width);
    inner = columns(both, 0, ffn.width);
    std::vector<Projection> projections;
    if (layer.names.gate_up.empty()) {
      projections = {project("gate", layer.names.gate), project("up", layer.names.up)};
    } else {
      projections = {projection("gate+up", of_layer(layer.names.gate_up, layer), 2 * ffn.width, in.f32.width,
                                Role::matrix, ffn.bias)};
    }
    linears(prefix, in, std::move(projections), both, Activation::none, std::nullopt);
    scale(inner, ffn.gate_multiplier);
    if (ffn.cutoff) add(CutoffNode{*ffn.cutoff, inner, inner});
    if (ffn.squared) add(GateNode{ffn.activation, inner, inner, inner});
    add(GateNode{ffn.squared ? Activation::none : ffn.activation, inner, up, inner});
  }
  if (!layer.names.down_norm.empty())
    norm(prefix + "down_norm", of_layer(layer.names.down_norm, layer), inner, inner);
  return inner;
}

// ---- Layers ----

Projection TransformerBuilder::o(const LayerSpec& layer) {
  return projection("o", of_layer(layer.names.o, layer), spec_.width, layer.attention.out_width(),
                    Role::matrix, layer.attention.o_bias);
}

Projection TransformerBuilder::down(const LayerSpec& layer) {
  return projection("down", of_layer(layer.names.down, layer), spec_.width, layer.ffn.width, Role::matrix,
                    layer.ffn.bias);
}

void TransformerBuilder::attention(const LayerSpec& layer) {
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = branch_input(layer, norms, kAttention);
  const View heads = attended(layer, in);
  add_branch(layer, norms, kAttention, heads, o(layer));
}

void TransformerBuilder::ffn(const LayerSpec& layer) {
  const BranchNorms& norms = layer.names.ffn_norms;
  BlockInput in = branch_input(layer, norms, kFfn);
  const View inner = ffn_inner(layer, in);
  add_branch(layer, norms, kFfn, inner, down(layer));
}

void TransformerBuilder::layer(const LayerSpec& layer) {
  if (layer.branches == Branches::serial) {
    attention(layer);
    if (layer.cross) {
      LayerSpec cross = *layer.cross;
      cross.weights = layer.weights;
      cross_attention(cross);
    }
    ffn(layer);
    return finish(layer);
  }
  const LayerNames& names = layer.names;
  BlockInput in = branch_input(layer, names.attention_norms, kAttention);
  BlockInput own = branch_input(layer, names.ffn_norms, kFfn);
  // Both read x before either is added to it.
  const View heads = attended(layer, in);
  const View inner = ffn_inner(layer, names.ffn_norms.before.empty() ? in : own);
  add_branch(layer, names.attention_norms, kAttention, heads, o(layer));
  add_branch(layer, names.ffn_norms, kFfn, inner, down(layer));
  finish(layer);
}

View TransformerBuilder::per_layer_branch(const LayerSpec& layer, View from) {
  const LayerNames& names = layer.names;
  const std::string prefix = prefix_of(layer);
  const uint32_t width = spec_.per_layer.width;
  const View own = columns(per_layer_, layer_index_ * width, width), gate = new_value(width, Unit::token);
  linear(prefix + "input_gate", of_layer(names.input_gate, layer), Role::matrix, from, gate,
         layer.ffn.activation, false);
  add(GateNode{Activation::none, gate, own, gate});
  const View branch = new_value(spec_.width, Unit::token);
  linear(prefix + "input_projection", of_layer(names.input_projection, layer), Role::matrix, gate, branch,
         Activation::none, false);
  norm(prefix + "input_norm", of_layer(names.input_norm, layer), branch, branch);
  return branch;
}

void TransformerBuilder::finish(const LayerSpec& layer) {
  const LayerNames& names = layer.names;
  if (!names.input_gate.empty()) add(ScaleRowsNode{per_layer_branch(layer, x_), x_, -1, 1.0f, x_});
  if (!names.scalar.empty()) scale(x_, tensors_.vector(of_layer(names.scalar, layer), 1)[0]);
}

}  // namespace mote::convert
