// SPDX-License-Identifier: Apache-2.0
//
// Attention: which element of q meets which of k and v follows from references alone, and so does the mask.
#include <algorithm>

#include "converter/layers/transformer_builder.h"
#include "converter/onnx/proof.h"

namespace mote::convert {
namespace {

/// The number that is added to a score so that nothing is left of the score after the softmax.
constexpr float kMaskedScore = -9000.0f;
constexpr uint64_t kMaxScores = 1u << 26;

}  // namespace

/// The atom that all references are of.
const TracedAtom& OnnxProof::one_atom(const std::vector<TracedElement>& elements, int32_t& index) {
  index = -1;
  for (const TracedElement& element : elements) {
    if (element.is_number()) continue;
    if (index >= 0 && element.atom != index) refuse("it mixes elements of several operators");
    index = element.atom;
  }
  if (index < 0) refuse("it reads nothing that depends on the input");
  const TracedAtom& found = trace_.atoms[static_cast<size_t>(index)];
  if (found.node != nullptr) at_ = found.node;
  return found;
}

/// The elements before they were multiplied by numbers.
std::vector<TracedElement> OnnxProof::unscaled(const Traced& tensor, float& factor) {
  std::vector<TracedElement> elements = tensor->all();
  for (;;) {
    int32_t index;
    const TracedAtom& found = one_atom(elements, index);
    const bool multiplies = found.node != nullptr && found.node->op == "Mul";
    if (!multiplies && (found.node == nullptr || found.node->op != "Div")) return elements;
    const size_t number = multiplies && trace_.scalar(found.inputs[0]) ? 0 : 1;
    const std::optional<float> value = trace_.scalar(found.inputs[number]);
    if (!value) return elements;
    factor = multiplies ? factor * *value : factor / *value;
    const Traced from = found.inputs[1 - number];
    for (TracedElement& element : elements) element = from->at(element.bits);
  }
}

/// The input of the linear whose outputs are the heads' queries ('q', [batch, heads, rows, columns]), keys
/// ('k', [batch, heads, columns, rows]) or values ('v', as queries).
Traced OnnxProof::heads(const Traced& tensor, float& factor, const LayerSpec& layer, char which,
                        uint64_t rows) {
  const AttentionSpec& spec = layer.attention;
  const LayerNames& names = layer.names;
  const uint64_t columns = which == 'v' ? spec.value_width() : spec.head_dim;
  const uint64_t heads = spec.heads, group = which == 'q' ? 1 : spec.heads / spec.kv_heads;
  uint64_t width = which == 'q' ? spec.q_width() : which == 'k' ? spec.k_width() : spec.v_width(), first = 0;
  std::string name = which == 'q' ? names.q : which == 'k' ? names.k : names.v;
  if (!names.qkv.empty()) {
    name = names.qkv;
    first = which == 'q' ? 0 : which == 'k' ? spec.q_width() : spec.q_width() + spec.k_width();
    width = uint64_t{spec.q_width()} + spec.k_width() + spec.v_width();
  }
  name = of_layer(name, layer);
  const std::vector<TracedElement> elements = unscaled(tensor, factor);
  int32_t index;
  one_atom(elements, index);
  if (elements.size() != sample_.batch * heads * rows * columns)
    refuse("{} should be split into {} heads of {}", name, heads, columns);
  for (uint64_t i = 0; i < elements.size(); ++i) {
    const uint64_t inner = i % (rows * columns), outer = i / (rows * columns);
    const uint64_t row = which == 'k' ? inner % rows : inner / columns;
    const uint64_t column = which == 'k' ? inner / rows : inner % columns;
    const uint64_t head = outer % heads / group, batch = outer / heads;
    const uint64_t expected = (batch * rows + row) * width + first + head * columns + column;
    if (elements[i].is_number() || elements[i].bits != expected)
      refuse("the output of {} is not split into heads as the config implies", name);
  }
  const std::optional<Product> made = product(whole(index));
  const bool may = spec_.optional_biases &&
                   ((made && made->bias != nullptr) || source_.tensors.count(name + ".bias") != 0);
  const bool bias = layer.attention.qkv_bias || may;
  return linear(whole(index), name, bias ? name + ".bias" : "");
}

/// Down to the product of q and k: what is added to each score, and the factor of the product.
void OnnxProof::peel_scores(Scores& scores) {
  for (;;) {
    int32_t index;
    const TracedAtom& found = one_atom(scores.elements, index);
    if (found.node == nullptr) refuse("scores should be products of q and k");
    const std::string& op = found.node->op;
    if (op == "MatMul") return;
    if ((op != "Add" && op != "Mul" && op != "Div") || found.inputs.size() != 2)
      refuse("the operator is not supported between the scores and their softmax");
    const size_t number = has_values(found.inputs[1]) ? 1 : 0;
    const Traced known = found.inputs[number], from = found.inputs[1 - number];
    const std::optional<float> value = trace_.scalar(known);
    if (op == "Add") {
      if (!has_values(known)) refuse("a bias of the scores is not what the config implies");
      if (scores.factor != 1.0f) refuse("scores are scaled behind their mask");
    } else {
      if (!value || (op == "Div" && number == 0)) refuse("scores are scaled by what is not known");
      scores.factor = op == "Mul" ? scores.factor * *value : scores.factor / *value;
    }
    for (size_t i = 0; i < scores.elements.size(); ++i) {
      TracedElement& element = scores.elements[i];
      if (element.is_number()) continue;
      if (op == "Add") {
        const auto added =
            value_of(known->at(broadcast_index(element.bits, found.dims, known->dims)), kMostAddends);
        if (!added) refuse("a bias of the scores is not what the config implies");
        scores.added[i] += *added;
      }
      element = from->at(broadcast_index(element.bits, found.dims, from->dims));
    }
  }
}

/// Scores that a row may see are the product's, others vanish in the softmax.
void OnnxProof::check_mask(const Scores& scores, const LayerSpec& layer, bool crosses, bool causal) {
  const uint64_t rows = sample_.length, heads = layer.attention.heads, keys = crosses ? sample_.source : rows;
  for (uint64_t i = 0; i < scores.elements.size(); ++i) {
    const uint64_t key = i % keys, query = i / keys % rows, batch = i / (keys * rows * heads);
    if (!sample_.is_kept(batch, query)) continue;
    const bool kept = crosses ? sample_.is_source_kept(batch, key) : sample_.is_kept(batch, key);
    const bool visible = kept && (!causal || key <= query);
    const TracedElement& element = scores.elements[i];
    const bool masked = (element.is_number() ? element.number() : 0.0f) + scores.added[i] <= kMaskedScore;
    const float bias =
        crosses || !visible ? 0.0f : expected_bias(layer, i / (keys * rows) % heads, query, key);
    const bool plain = !element.is_number() && element.bits == i && is_near(scores.added[i], bias);
    if (visible ? !plain : !masked)
      refuse("the mask {} row {} of row {}", visible ? "changes the score of" : "leaves in", key, query);
  }
}

/// The product of q and k behind the softmax's input, and the factor of it, with its mask checked.
TracedAtom OnnxProof::scored(const Traced& tensor, const LayerSpec& layer, bool crosses, float& factor) {
  const uint64_t rows = sample_.length, keys = crosses ? sample_.source : rows;
  const uint64_t heads_count = layer.attention.heads;
  const bool causal = !crosses && (layer.attention.causal || !spec_.is_encoder());
  if (sample_.batch * heads_count * rows * keys > kMaxScores)
    refuse("{} rows are too many to be followed", rows);
  if (tensor->size() != sample_.batch * heads_count * rows * keys)
    refuse("scores of {} heads, each of {} rows, should be here", heads_count, rows);
  const bool masks = crosses ? sample_.source_padded : causal || sample_.padded;
  if (!masks && (crosses || layer.attention.bias ==
                                kNone)) {  // nothing has to be left out: the product may be there as it is
    if (const TracedAtom* plain = node(tensor, "MatMul")) return *plain;
  }
  Scores scores;
  scores.elements = tensor->all();
  scores.added.resize(scores.elements.size());
  peel_scores(scores);
  check_mask(scores, layer, crosses, causal);
  factor = scores.factor;
  int32_t index;
  return one_atom(scores.elements, index);
}

Traced OnnxProof::attention(const Traced& merged, const LayerSpec& layer, bool crosses) {
  const AttentionSpec& spec = layer.attention;
  const uint64_t rows = sample_.length, columns = spec.value_width(), heads_count = spec.heads;
  const uint64_t keys_rows = crosses ? sample_.source : rows;
  const std::vector<TracedElement> elements = merged->all();
  int32_t index;
  const TracedAtom sums = one_atom(elements, index);
  if (sums.node == nullptr || sums.node->op != "MatMul" ||
      elements.size() != sample_.batch * rows * heads_count * columns)
    refuse("the outputs of {} heads of {} should be here, side by side", heads_count, columns);
  for (uint64_t i = 0; i < elements.size(); ++i) {
    const uint64_t column = i % columns, head = i / columns % heads_count;
    const uint64_t row = i / (columns * heads_count) % rows, batch = i / (columns * heads_count * rows);
    if (elements[i].is_number() ||
        elements[i].bits != ((batch * heads_count + head) * rows + row) * columns + column)
      refuse("the outputs of {} heads are not put side by side", heads_count);
  }
  Traced shares = sums.inputs[0];
  if (const TracedAtom* chosen = node(shares, "Where")) {  // rows that see nothing get 0
    const TracedAtom* condition = node(chosen->inputs[0], "IsNaN");
    at_ = chosen->node;
    if (condition == nullptr || !is_same(condition->inputs[0], chosen->inputs[2]))
      refuse("an unknown choice");
    shares = chosen->inputs[2];
  }
  const TracedAtom softmax = need(shares, "Softmax", "the softmax of scores");
  const auto rank = static_cast<int64_t>(softmax.dims.size());
  const int64_t axis = softmax.node->integer("axis", model_->graph.opset >= 13 ? -1 : 1);
  if (axis != -1 && axis != rank - 1) refuse("a softmax over more than keys");
  float factor = 1.0f, value_factor = 1.0f;
  const TracedAtom product = scored(softmax.inputs[0], layer, crosses, factor);
  const Traced x = heads(product.inputs[0], factor, layer, 'q', rows);
  const Traced keys = heads(product.inputs[1], factor, layer, 'k', keys_rows);
  at_ = product.node;
  if (!is_near(factor, spec.scale))
    refuse("scores are multiplied by {}, the config implies {}", factor, spec.scale);
  const Traced values = heads(sums.inputs[1], value_factor, layer, 'v', keys_rows);
  if (value_factor != 1.0f) refuse("values are multiplied by {}", value_factor);
  const auto source = trace_.values.find(kOnnxSource);
  if (crosses && source == trace_.values.end()) refuse("{} should be an input of the graph", kOnnxSource);
  const Traced read = crosses ? source->second : x;
  if (!is_same(read, keys) || !is_same(read, values))
    refuse("{}", crosses ? "k and v should read the source's rows" : "q, k and v should read the same rows");
  return x;
}

}  // namespace mote::convert
