// SPDX-License-Identifier: Apache-2.0
//
// The layers: attention and feed-forward of the residual stream, by their data.
#include <fmt/format.h>

#include <algorithm>

#include "converter/transformer_builder.h"

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
  if (names.after.empty() && layer.residual_multiplier == 1.0f) {
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
  add(ScaleRowsNode{branch, x_, -1, layer.residual_multiplier, x_});
  norm_sum(layer, names, label);
}

void TransformerBuilder::norm_sum(const LayerSpec& layer, const BranchNorms& names,
                                  const std::string& label) {
  if (names.sum.empty()) return;
  const char* suffix = names.before.empty() ? "_norm" : "_sum_norm";
  norm(prefix_of(layer) + label + suffix, of_layer(names.sum, layer), x_, x_);
}

uint32_t TransformerBuilder::add_state(const Cache& state) {
  graph_.caches.push_back(state);
  return static_cast<uint32_t>(graph_.caches.size() - 1);
}

// ---- Attention ----

View TransformerBuilder::qkv(const LayerSpec& layer, BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t q_width = attention.q_width(), k_width = attention.k_width(), v_width = attention.v_width();
  std::vector<Projection> projections;
  const auto project = [&](const char* label, const std::string& name, uint32_t rows) {
    projections.push_back(
        projection(label, of_layer(name, layer), rows, in.f32.width, Role::matrix, attention.qkv_bias));
  };
  if (layer.names.qkv.empty()) {
    project("q", layer.names.q, q_width);
    project("k", layer.names.k, k_width);
    project("v", layer.names.v, v_width);
  } else {
    project("qkv", layer.names.qkv, q_width + k_width + v_width);
  }
  const View out = new_value(q_width + k_width + v_width, Unit::token);
  linears(prefix_of(layer), in, std::move(projections), out, Activation::none, std::nullopt);
  return out;
}

uint32_t TransformerBuilder::cache_of(const AttentionSpec& attention) {
  const bool encoder = spec_.is_encoder();
  // A window that holds the whole context is none; its pages are those of the caches without one.
  const uint32_t window = attention.window >= spec_.context ? 0 : attention.window;
  if (encoder) {  // no layer needs another's keys and values: all of one shape share a cache
    const auto same = std::find_if(graph_.caches.begin(), graph_.caches.end(), [&](const Cache& cache) {
      return cache.kv_heads == attention.kv_heads && cache.key_dim == attention.head_dim &&
             cache.value_dim == attention.value_width();
    });
    if (same != graph_.caches.end()) return static_cast<uint32_t>(same - graph_.caches.begin());
  }
  graph_.caches.push_back({attention.kv_heads, attention.head_dim, window, encoder, attention.value_width()});
  return static_cast<uint32_t>(graph_.caches.size() - 1);
}

View TransformerBuilder::attended(const LayerSpec& layer, BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t q_width = attention.q_width(), k_width = attention.k_width(), v_width = attention.v_width();
  const View all = qkv(layer, in);
  const View q = columns(all, 0, q_width);
  const View k = columns(all, q_width, k_width);
  const View v = columns(all, q_width + k_width, v_width);
  if (!layer.names.q_norm.empty()) {
    const std::string prefix = prefix_of(layer);
    norm(NormKind::rms, prefix + "q_norm", of_layer(layer.names.q_norm, layer), attention.heads, q, q);
    norm(NormKind::rms, prefix + "k_norm", of_layer(layer.names.k_norm, layer), attention.kv_heads, k, k);
  }
  return attend_heads(layer, q, k, v);
}

View TransformerBuilder::attend_heads(const LayerSpec& layer, View q, View k, View v) {
  const AttentionSpec& attention = layer.attention;
  if (attention.rope != kNone) {
    const RopeKind kind = spec_.ropes[attention.rope].kind;
    add(RopeNode{kind, attention.heads, rope_tables_[attention.rope], q});
    add(RopeNode{kind, attention.kv_heads, rope_tables_[attention.rope], k});
  }
  const int32_t bias = attention.bias == kNone ? -1 : attention_biases_[attention.bias];
  const uint32_t cache = cache_of(attention);
  add(KvStoreNode{cache, k, v});
  const View out = new_value(attention.out_width(), Unit::token);
  AttentionNode node{cache, attention.heads, attention.scale, q, out, bias};
  node.sides = attention.sides;
  add(node);
  return out;
}

// ---- Feed-forward ----

View TransformerBuilder::ffn_inner(const LayerSpec& layer, BlockInput& in) {
  const FfnSpec& ffn = layer.ffn;
  const std::string prefix = prefix_of(layer);
  const auto project = [&](const char* label, const std::string& name) {
    return projection(label, of_layer(name, layer), ffn.width, in.f32.width, Role::matrix, ffn.bias);
  };
  if (ffn.kind == Ffn::plain) {
    const View inner = new_value(ffn.width, Unit::token);
    linears(prefix, in, {project("up", layer.names.up)}, inner, ffn.activation, std::nullopt);
    return inner;
  }
  const View both = new_value(2 * ffn.width, Unit::token), inner = columns(both, 0, ffn.width);
  linears(prefix, in, {project("gate", layer.names.gate), project("up", layer.names.up)}, both,
          Activation::none, std::nullopt);
  scale(inner, ffn.gate_multiplier);
  add(GateNode{ffn.activation, inner, columns(both, ffn.width, ffn.width), inner});
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
    ffn(layer);
    return;
  }
  const LayerNames& names = layer.names;
  BlockInput in = branch_input(layer, names.attention_norms, kAttention);
  BlockInput own = branch_input(layer, names.ffn_norms, kFfn);
  // Both read x before either is added to it.
  const View heads = attended(layer, in);
  const View inner = ffn_inner(layer, names.ffn_norms.before.empty() ? in : own);
  add_branch(layer, names.attention_norms, kAttention, heads, o(layer));
  add_branch(layer, names.ffn_norms, kFfn, inner, down(layer));
}

}  // namespace mote::convert
