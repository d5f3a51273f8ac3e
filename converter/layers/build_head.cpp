// SPDX-License-Identifier: Apache-2.0
//
// Builds the part behind the layers: a decoder's logits, or the outputs that an encoder's head makes of the
// last hidden states.
#include <fmt/format.h>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

constexpr float kSmallestLength = 1e-12f;  // vectors shorter than this are not scaled up to length 1

}  // namespace

void TransformerBuilder::vocabulary_logits(const std::string& name, const std::string& bias_name, View in,
                                           Activation activation) {
  graph_.output = new_value(spec_.vocab, Unit::selected);
  if (!spec_.tied_embedding && bias_name.empty())
    return linear("head", name, Role::head, in, graph_.output, activation, false);
  int32_t bias = -1, weight = table_;
  if (!bias_name.empty()) {  // it may be stored under either name, or both
    const bool own = tensors_.has(name + ".bias");
    bias = add_vector("head.bias", tensors_.vector(own ? name + ".bias" : bias_name, spec_.vocab));
    tensors_.ignore(bias_name);
  }
  if (spec_.tied_embedding) {
    tensors_.ignore(name + ".weight");
  } else {
    WeightPart part = tensors_.matrix(name + ".weight", spec_.vocab, in.width, false);
    const DType dtype = policy_.dtype(Role::head, *part.tensor);
    weight = add_matrix("head", dtype, false, in.width, {std::move(part)});
  }
  const auto multiply = [&](int32_t matrix, int32_t added, View columns_of, std::optional<View> sum) {
    BlockInput input{columns_of};
    const View from = input_for(input, graph_.weights[static_cast<size_t>(matrix)].dtype);
    add(LinearNode{matrix, added, activation, from, graph_.output, sum});
  };
  const std::string& rest = spec_.head.output_rest;
  if (!spec_.tied_embedding || rest.empty()) return multiply(weight, bias, in, std::nullopt);
  const uint32_t width = spec_.embedding_width, others = in.width - width;
  WeightPart part = tensors_.matrix(rest + ".weight", spec_.vocab, others, true);
  const DType dtype = policy_.dtype(Role::head, *part.tensor);
  const int32_t further = add_matrix("head.rest", dtype, false, others, {std::move(part)});
  multiply(weight, bias, columns(in, 0, width), std::nullopt);
  multiply(further, -1, columns(in, width, others), graph_.output);
}

void TransformerBuilder::score(View in) {
  const HeadSpec& head = spec_.head;
  const auto row = [&](uint32_t id) {
    const WeightPart part = tensors_.rows(head.output + ".weight", spec_.vocab, in.width, id, 1, false);
    std::vector<float> values(in.width);
    read_row(*part.tensor, 0, values);
    return values;
  };
  std::vector<float> values = row(head.score->more);
  if (head.score->less) {
    const std::vector<float> other = row(*head.score->less);
    for (size_t i = 0; i < values.size(); ++i) values[i] -= other[i];
  }
  WeightPart part = tensors_.computed("score", 1, in.width, values);
  const DType dtype = policy_.dtype(Role::head, *part.tensor);
  const int32_t weight = add_matrix("head", dtype, false, in.width, {std::move(part)});
  int32_t bias = -1;
  if (!head.output_bias.empty()) {
    const std::vector<float> biases = tensors_.vector(head.output_bias, spec_.vocab);
    const float less = head.score->less ? biases[*head.score->less] : 0.0f;
    bias = add_vector("head.bias", {biases[head.score->more] - less});
  }
  BlockInput input{in};
  const View from = input_for(input, graph_.weights[static_cast<size_t>(weight)].dtype);
  add(LinearNode{weight, bias, Activation::none, from, graph_.output, std::nullopt});
}

View TransformerBuilder::project_output(View in) {
  const std::string& name = spec_.names.output_projection;
  if (name.empty()) return in;
  const View out = new_value(spec_.output_width, graph_.values[in.value].unit);
  linear("output_projection", name, Role::matrix, in, out, Activation::none, false);
  return out;
}

void TransformerBuilder::decoder_head() {
  const WeightNames& names = spec_.names;
  View last = new_value(x_.width, Unit::selected);
  add(SelectNode{x_, last});
  if (spec_.before_head) last = spec_.before_head(*this, last);
  if (!names.final_norm.empty()) norm("final_norm", names.final_norm, last, last);
  last = project_output(last);
  if (!spec_.last_hidden_unnormed) probe(fmt::format("hidden.{}", spec_.layers.size()), last);
  last = dense("head.dense", spec_.head.dense, last);
  if (spec_.logit_softcap == 0.0f) return vocabulary_logits(names.head, spec_.head.output_bias, last);
  // c tanh(logit / c), the division done to the head's input, of which there is less.
  scale(last, 1.0f / spec_.logit_softcap);
  vocabulary_logits(names.head, spec_.head.output_bias, last, Activation::tanh);
  scale(graph_.output, spec_.logit_softcap);
}

View TransformerBuilder::dense(const std::string& label, const DenseSpec& spec, View in) {
  if (spec.name.empty()) return in;
  const View out = new_value(spec.width, graph_.values[in.value].unit);
  linear(label, spec.name, Role::matrix, in, out, spec.activation, spec.bias);
  if (!spec.norm.empty())
    norm(spec.layer_norm ? NormKind::layer : spec_.norm, label + ".norm", spec.norm, 1, out, out);
  return out;
}

void TransformerBuilder::labels_of_two() {
  const HeadSpec& head = spec_.head;
  const View last = x_;
  enter_groups(1, 1);
  const View both = new_value(2 * spec_.width, Unit::token), pooled = new_value(both.width, Unit::sequence);
  add(FramesNode{2, 0, last, both});
  add(PoolNode{PoolKind::first, both, pooled});
  const View mean = columns(pooled, 0, spec_.width);
  add(ScaleRowsNode{mean, mean, -1, 1.0f, columns(pooled, spec_.width, spec_.width)});
  scale(mean, 0.5f);
  norm("head.norm", head.pooled_norm, mean, mean);
  graph_.output = new_value(head.width, Unit::sequence);
  graph_.output_kind = head.kind;
  graph_.probabilities = head.probabilities;
  graph_.labels = head.labels;
  linear("head", head.output, Role::head, mean, graph_.output, Activation::none, true);
}

void TransformerBuilder::encoder_head() {
  const HeadSpec& head = spec_.head;
  const std::string last = fmt::format("hidden.{}", spec_.layers.size());
  if (spec_.before_head) x_ = spec_.before_head(*this, x_);
  if (head.hidden_before_norm) probe(last, x_);
  if (!spec_.names.final_norm.empty()) norm("final_norm", spec_.names.final_norm, x_, x_);
  x_ = project_output(x_);
  const uint32_t width = x_.width;
  if (!head.hidden_before_norm && !spec_.last_hidden_unnormed) probe(last, x_);
  probe("last_hidden_state", x_);
  if (head.first_two) return labels_of_two();

  // All that reads rows of tokens before all that computes with what was taken of them
  // (runtime/exec/passes.h).
  const bool has_pooler = !head.pooler.name.empty();
  View first{};
  if (has_pooler) {
    first = new_value(width, Unit::sequence);
    add(PoolNode{PoolKind::first, x_, first});
  }
  const bool of_sequences = head.kind == OutputKind::sequence_labels || head.kind == OutputKind::embedding;
  const uint32_t pooled_width = head.dense_of_tokens ? head.dense.width : width;
  const uint32_t taken_width = pooled_width + width * static_cast<uint32_t>(head.more_pools.size());
  const View taken = new_value(taken_width, of_sequences ? Unit::sequence : Unit::selected);
  if (of_sequences) {
    const View pooled = head.dense_of_tokens ? dense("head.dense", head.dense, x_) : x_;
    add(PoolNode{head.pool, pooled, columns(taken, 0, pooled_width), 0, head.padding});
    for (uint32_t i = 0; i < head.more_pools.size(); ++i)
      add(PoolNode{head.more_pools[i], x_, columns(taken, pooled_width + i * width, width)});
  } else {
    add(SelectNode{x_, taken});
  }
  if (has_pooler) probe("pooler_output", dense("pooler", head.pooler, first));
  View features = head.dense_of_tokens ? taken : dense("head.dense", head.dense, taken);
  for (size_t i = 0; i < head.projections.size(); ++i)
    features = dense(fmt::format("head.projection.{}", i), head.projections[i], features);
  graph_.output_kind = head.kind;
  graph_.probabilities = head.probabilities;
  graph_.labels = head.labels;
  if (head.kind == OutputKind::masked_token)
    return vocabulary_logits(head.output, head.output_bias, features);
  graph_.output = features;
  if (!head.output.empty()) {
    graph_.output = new_value(head.width, graph_.values[features.value].unit);
    if (head.score) return score(features);
    linear("head", head.output, Role::head, features, graph_.output, Activation::none,
           head.has_bias && !spec_.optional_biases);
  }
  if (head.normalize) add(NormNode{NormKind::l2, kSmallestLength, 1, -1, -1, graph_.output, graph_.output});
}

void TransformerBuilder::head() {
  if (spec_.picture.format.height != 0) {
    picture_head();
  } else if (spec_.is_encoder()) {
    encoder_head();
  } else {
    decoder_head();
  }
  scale(graph_.output, spec_.logit_multiplier);
}

}  // namespace mote::convert
