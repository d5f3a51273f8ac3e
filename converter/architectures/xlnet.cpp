// SPDX-License-Identifier: Apache-2.0
//
// XLNet (Yang et al. 2019): keys by distance as Transformer-XL's (Dai et al. 2019), a term of the scores for
// tokens of one type, and a memory of earlier segments, whose tokens count as of type 0.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/relative_attention.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kXlnetContext = 512;  // that it was trained with; the original has no limit
constexpr uint32_t kMostMemory = 1u << 14;
constexpr uint32_t kTypes = 4;  // of the first text, the second, the class token, others

/// Heads of queries and keys have kTypes columns behind those of the source: of a query what a key of its own
/// type gets, in the column of its type, of a key 1 in that of its type.
struct XlnetLayer {
  uint32_t width, heads, head_dim;
  uint32_t reach;
  uint32_t memory;     // tokens
  std::string prefix;  // "{}" stands for the layer
  uint32_t key_dim() const { return head_dim + kTypes; }
};

/// [heads * head_dim, width] of [width, heads, head_dim].
std::vector<float> outputs_first(TensorSet& tensors, const XlnetLayer& own, const std::string& name) {
  const size_t outputs = size_t{own.heads} * own.head_dim;
  const std::vector<float> stored = tensors.table(name, own.width, own.heads * own.head_dim);
  std::vector<float> result(stored.size());
  for (size_t i = 0; i < own.width; ++i) {
    for (size_t j = 0; j < outputs; ++j) result[j * own.width + i] = stored[i * outputs + j];
  }
  return result;
}

/// Rows [heads * key_dim] of rows of heads [heads * head_dim], `fill` rows of each head behind them.
std::vector<float> with_type_rows(const XlnetLayer& own, const std::vector<float>& rows,
                                  const std::vector<float>& fill) {
  const size_t columns = rows.size() / (size_t{own.heads} * own.head_dim);
  std::vector<float> result;
  for (size_t head = 0; head < own.heads; ++head) {
    const auto from = [&](const std::vector<float>& all, size_t row) {
      return all.begin() + static_cast<ptrdiff_t>(row * columns);
    };
    result.insert(result.end(), from(rows, head * own.head_dim), from(rows, (head + 1) * own.head_dim));
    for (uint32_t type = 0; type < kTypes; ++type)
      result.insert(result.end(), from(fill, head), from(fill, head + 1));
  }
  return result;
}

/// Returns for each head the sum over its rows times its coefficients: [heads, columns] of [heads * head_dim,
/// columns].
std::vector<float> sum_heads(const XlnetLayer& own, const std::vector<float>& coefficients,
                             const std::vector<float>& rows) {
  const size_t columns = rows.size() / coefficients.size();
  std::vector<float> result(own.heads * columns);
  for (size_t head = 0; head < own.heads; ++head) {
    for (size_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (size_t e = head * own.head_dim; e < (head + 1) * own.head_dim; ++e)
        sum += double{coefficients[e]} * double{rows[e * columns + column]};
      result[head * columns + column] = static_cast<float>(sum);
    }
  }
  return result;
}

/// Sines and cosines of query - key for each distance key - query: [2 reach - 1, width].
std::vector<float> sinusoids(const XlnetLayer& own) {
  charge_table({2, own.reach, own.width});
  std::vector<float> rows;
  const int32_t farthest = static_cast<int32_t>(own.reach) - 1;
  std::vector<float> frequencies;
  for (uint32_t i = 0; i < own.width; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(own.width);
    frequencies.push_back(1.0f / std::pow(10000.0f, exponent));
  }
  for (int32_t distance = -farthest; distance <= farthest; ++distance) {
    for (const float frequency : frequencies)
      rows.push_back(std::sin(static_cast<float>(-distance) * frequency));
    for (const float frequency : frequencies)
      rows.push_back(std::cos(static_cast<float>(-distance) * frequency));
  }
  return rows;
}

/// Returns the difference of one of a layer's biases from that of contents, which the queries have in them.
std::vector<float> beside_contents(TensorSet& tensors, const XlnetLayer& own, const std::string& attention,
                                   const char* name) {
  std::vector<float> bias = tensors.table(attention + name, own.heads, own.head_dim);
  const std::vector<float> contents = tensors.table(attention + "r_w_bias", own.heads, own.head_dim);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] -= contents[i];
  return bias;
}

RelativeSpec keys_by_distance(const XlnetLayer& own, TransformerBuilder& builder, const LayerSpec& layer) {
  const std::string attention = of_layer(own.prefix, layer) + "rel_attn.";
  TensorSet& tensors = builder.tensors();
  const uint32_t outputs = own.heads * own.head_dim, columns = 2 * own.reach - 1;
  const std::vector<float> rows =
      project_rows(sinusoids(own), own.width, outputs_first(tensors, own, attention + "r"), {});
  const int32_t farthest = static_cast<int32_t>(own.reach) - 1;
  const std::vector<float> table = by_distance(
      rows, outputs, own.reach, [=](int32_t distance) { return static_cast<uint32_t>(distance + farthest); });
  RelativeSpec relative;
  relative.bias = sum_heads(own, beside_contents(tensors, own, attention, "r_r_bias"), table);
  for (float& bias : relative.bias) bias *= layer.attention.scale;
  relative.keys = with_type_rows(own, table, std::vector<float>(size_t{own.heads} * columns));
  return relative;
}

/// A row for each type: `inside` in the source's columns of each head, then 1 in that of the type. `from`:
/// less such a row of that type.
int32_t add_type_table(TransformerBuilder& builder, const XlnetLayer& own, const char* name, float inside,
                       std::optional<uint32_t> from = std::nullopt) {
  std::vector<float> values;
  for (uint32_t type = 0; type < kTypes; ++type) {
    for (uint32_t head = 0; head < own.heads; ++head) {
      values.insert(values.end(), own.head_dim, inside);
      for (uint32_t column = 0; column < kTypes; ++column)
        values.push_back((column == type ? 1.0f : 0.0f) - (column == from ? 1.0f : 0.0f));
    }
  }
  return builder.add_weight({name, DType::f32, true, kTypes, own.heads * own.key_dim(), {}, values});
}

void build_xlnet_attention(const XlnetLayer& own, const std::shared_ptr<std::optional<View>>& mask,
                           TransformerBuilder& builder, const LayerSpec& layer) {
  const std::string attention = of_layer(own.prefix, layer) + "rel_attn.", prefix = prefix_of(layer);
  TensorSet& tensors = builder.tensors();
  const View x = builder.x();
  const uint32_t wide = own.heads * own.key_dim(), narrow = own.heads * own.head_dim;
  BlockInput input{x};
  const auto project = [&](const char* label, uint32_t rows, uint32_t cols, const std::vector<float>& weight,
                           std::optional<std::vector<float>> bias) {
    WeightPart part = tensors.computed(attention + label, rows, cols, weight);
    const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
    return Projection{label, {std::move(part)}, dtype, std::move(bias)};
  };
  // The products that keys of the query's own type get more than others, as rows of q.
  std::vector<float> types = tensors.table(attention + "seg_embed", 2, narrow);
  for (size_t i = 0; i < narrow; ++i) types[i] -= types[narrow + i];
  types.resize(narrow);
  const std::vector<float> q_rows = outputs_first(tensors, own, attention + "q");
  const std::vector<float> none(size_t{own.heads} * own.width);
  const View q = builder.new_value(wide, Unit::token), k = builder.new_value(wide, Unit::token);
  const View v = builder.new_value(narrow, Unit::token);
  const std::vector<float> q_bias =
      with_type_rows(own, tensors.table(attention + "r_w_bias", own.heads, own.head_dim),
                     sum_heads(own, types, tensors.table(attention + "r_s_bias", own.heads, own.head_dim)));
  builder.linears(
      prefix, input,
      {project("q", wide, own.width, with_type_rows(own, q_rows, sum_heads(own, types, q_rows)), q_bias)}, q,
      Activation::none, std::nullopt);
  const std::vector<float> k_rows = outputs_first(tensors, own, attention + "k");
  std::optional<std::vector<float>> k_bias;  // with a memory type 0
  if (own.memory != 0) {
    k_bias = std::vector<float>(wide);
    for (size_t head = 0; head < own.heads; ++head) (*k_bias)[head * own.key_dim() + own.head_dim] = 1.0f;
  }
  builder.linears(prefix, input, {project("k", wide, own.width, with_type_rows(own, k_rows, none), k_bias)},
                  k, Activation::none, std::nullopt);
  builder.linears(
      prefix, input,
      {project("v", narrow, own.width, outputs_first(tensors, own, attention + "v"), std::nullopt)}, v,
      Activation::none, std::nullopt);
  if (!*mask) {
    *mask = builder.new_value(wide, Unit::token);
    builder.add(ScaleRowsNode{k, **mask, -1, 0.0f});
    builder.add(PositionsNode{add_type_table(builder, own, "type_mask", 1.0f), **mask, RowIndex::token_type});
  }
  builder.add(GateNode{Activation::none, **mask, q, q});
  View heads{};
  if (own.memory == 0) {
    builder.add(PositionsNode{add_type_table(builder, own, "type_keys", 0.0f), k, RowIndex::token_type});
    heads = builder.attend_heads(layer, q, k, v);
  } else {  // later runs see keys of type 0
    const View typed = builder.new_value(wide, Unit::token);
    builder.add(ScaleRowsNode{k, typed});
    builder.add(
        PositionsNode{add_type_table(builder, own, "type_keys", 0.0f, 0), typed, RowIndex::token_type});
    Cache state{own.heads, own.key_dim(), 0, true, own.head_dim};
    state.memory = own.memory;
    const uint32_t cache = builder.add_state(state);
    builder.add(KvStoreNode{cache, typed, v});
    heads = builder.attend(layer, cache, q);
    builder.add(KvStoreNode{cache, k, v});
  }
  builder.add_branch(
      layer, layer.names.attention_norms, "attention", heads,
      project("o", own.width, narrow, tensors.table(attention + "o", own.width, narrow), std::nullopt));
}

LayerSpec read_xlnet_layer(Config& config, const std::string& base, TransformerSpec& spec) {
  XlnetLayer own{};
  own.width = spec.width;
  own.heads = config.size("n_head", 1, kMaxSize, 16);
  own.head_dim = config.size("d_head", 1, kMaxHeadDim - kTypes, own.width / own.heads);
  if (own.heads * own.head_dim != own.width) config.refuse("n_head * d_head is not d_model");
  own.memory = config.optional_size("mem_len", 0, kMaxSize).value_or(0);
  if (own.memory > kMostMemory) config.refuse("mem_len {}, at most {} is supported", own.memory, kMostMemory);
  if (own.memory != 0 && config.optional_size("reuse_len", 0, kMaxSize).value_or(0) != 0)
    config.refuse("a reuse_len beside mem_len is not supported");
  own.reach = relative_reach(spec.context + own.memory);
  own.prefix = base + "layer.{}.";
  LayerSpec layer;
  layer.attention.heads = layer.attention.kv_heads = own.heads;
  layer.attention.head_dim = own.key_dim();
  layer.attention.value_dim = own.head_dim;
  layer.attention.scale = static_cast<float>(1.0 / std::sqrt(own.head_dim));
  layer.attention.relative = [own](TransformerBuilder& builder, const LayerSpec& layer_spec) {
    return keys_by_distance(own, builder, layer_spec);
  };
  layer.ffn = {Ffn::plain, read_activation(config, "ff_activation", "gelu"),
               config.size("d_inner", 1, kMaxSize, 4096), true};
  layer.names.attention_norms.sum = own.prefix + "rel_attn.layer_norm";
  layer.names.up = own.prefix + "ff.layer_1";
  layer.names.down = own.prefix + "ff.layer_2";
  layer.names.ffn_norms.sum = own.prefix + "ff.layer_norm";
  const auto mask = std::make_shared<std::optional<View>>();
  layer.build = [own, mask](TransformerBuilder& builder, const LayerSpec& layer_spec) {
    if (layer_spec.weights == 0) mask->reset();
    build_xlnet_attention(own, mask, builder, layer_spec);
    builder.ffn(layer_spec);
  };
  return layer;
}

}  // namespace

TransformerSpec read_xlnet(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 32000);
  spec.width = config.size("d_model", 2, kMaxSize, 1024);
  spec.context = source.max_tokens != 0 ? std::min(source.max_tokens, kXlnetContext) : kXlnetContext;
  spec.token_types = kTypes;
  set_layer_norms(config, 1e-12, spec);
  if (config.text("attn_type", "bi") != "bi") config.refuse("attn_type is not bi");
  require_flag(config, "bi_data", false);
  if (config.number("clamp_len", -1) > 0) config.refuse("clamp_len is more than 0");
  // Keys of the segments that are kept, which the caller says; of training, and of heads that a bare model
  // has not.
  for (const char* unused :
       {"reuse_len", "use_mems_eval", "use_mems_train", "same_length", "untie_r", "summary_type",
        "summary_activation", "summary_use_proj", "summary_last_dropout", "start_n_top", "end_n_top"})
    config.value(unused);
  const LayerSpec layer = read_xlnet_layer(config, base, spec);
  spec.repeat(layer, config.size("n_layer", 1, kMaxLayers, 24));
  spec.names.embedding = base + "word_embedding";
  spec.names.ignored = {"mask_emb"};
  HeadNames names;
  names.base = base;
  read_head(source, config, names, spec);
  if (spec.head.kind != OutputKind::hidden && spec.head.kind != OutputKind::embedding)
    config.refuse("of this architecture the bare model is supported only");
  spec.names.ignored_starts.insert(spec.names.ignored_starts.end(),
                                   {"lm_loss.", "sequence_summary.", "logits_proj."});
  if (config.optional_size("mem_len", 0, kMaxSize).value_or(0) == 0) {
    spec.notes.emplace_back(
        "each text is read by itself: config.json has no mem_len, and a memory of all texts before it has no "
        "end");
  }
  return spec;
}

}  // namespace mote::convert
