// SPDX-License-Identifier: Apache-2.0
//
// Proves the parts that T5 has and BERT has not: norms by the mean of squares, a gate in the feed-forward,
// biases of the scores by distance.
#include <algorithm>
#include <cmath>

#include "converter/layers/transformer_builder.h"
#include "converter/onnx/proof.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint64_t kValueSteps = 16;

}  // namespace

/// x of x / sqrt(mean(x^2) + eps) * weight.
Traced OnnxProof::rms_norm(const Traced& tensor, const std::string& name) {
  const std::string what = "the norm " + name;
  const TracedAtom& scaled = need(tensor, "Mul", what);
  const size_t of_weight = is_vector(scaled.inputs[1]) ? 1 : 0;
  bind_vector(name + ".weight", scaled.inputs[of_weight]);
  const Traced normed = scaled.inputs[1 - of_weight];
  const TracedAtom* found = atom(normed);
  if (found == nullptr || found->node == nullptr) refuse("{} should be here", what);
  at_ = found->node;
  Traced x, root;
  if (found->node->op == "Div") {
    x = found->inputs[0];
    root = found->inputs[1];
  } else if (found->node->op == "Mul") {
    for (size_t i = 0; i < 2 && root == nullptr; ++i) {
      const TracedAtom* inverse = atom(found->inputs[i]);
      if (inverse == nullptr || inverse->node == nullptr) continue;
      const bool divides = inverse->node->op == "Div" && trace_.scalar(inverse->inputs[0]) == 1.0f;
      if (!divides && inverse->node->op != "Reciprocal") continue;
      x = found->inputs[1 - i];
      root = inverse->inputs[divides ? 1 : 0];
    }
  }
  if (root == nullptr) refuse("{} should divide by a root here", what);
  const TracedAtom& mean_root = need(root, "Sqrt", what);
  const TracedAtom& sum = need(mean_root.inputs[0], "Add", what);
  const size_t eps = trace_.scalar(sum.inputs[1]) ? 1 : 0;
  const std::optional<float> value = trace_.scalar(sum.inputs[eps]);
  if (!value || !is_near(*value, spec_.norm_eps))
    refuse("epsilon is {}, the config's {}", value.value_or(NAN), spec_.norm_eps);
  const TracedAtom& mean = need(sum.inputs[1 - eps], "ReduceMean", what);
  const TracedAtom* square = atom(mean.inputs[0]);
  const bool is_power = square != nullptr && square->node != nullptr && square->node->op == "Pow" &&
                        trace_.scalar(square->inputs[1]) == 2.0f;
  const bool is_product = square != nullptr && square->node != nullptr && square->node->op == "Mul" &&
                          is_same(square->inputs[0], square->inputs[1]);
  if (!(is_power || is_product) || !is_same(square->inputs[0], x))
    refuse("{} should take the mean of squares here", what);
  return x;
}

/// Returns the tensor x that activation(gate(x)) * up(x) reads.
Traced OnnxProof::gated(const Traced& tensor, const LayerSpec& layer) {
  const std::string gate = of_layer(layer.names.gate, layer), up = of_layer(layer.names.up, layer);
  const TracedAtom& both = need(tensor, "Mul", "the product of " + gate + " and " + up);
  const std::vector<Traced> inputs = both.inputs;
  const size_t plain = product(inputs[1]) ? 1 : 0;
  const Traced read = linear(inputs[plain], up, layer.ffn.bias ? up + ".bias" : "");
  const Traced gate_sums = activation(inputs[1 - plain], layer.ffn.activation, gate);
  const Traced same = linear(gate_sums, gate, layer.ffn.bias ? gate + ".bias" : "");
  if (!is_same(read, same)) refuse("{} and {} should read the same rows", gate, up);
  return read;
}

/// A number, an element of a weight, or a sum of such; none where it depends on the input.
std::optional<float> OnnxProof::value_of(TracedElement element, int depth) const {
  charge_work(kValueSteps);
  if (const std::optional<float> number = trace_.number(element)) return number;
  const TracedAtom& of = trace_.atoms[static_cast<size_t>(element.atom)];
  if (of.weight != nullptr) {  // in integers
    uint64_t inner = 1;
    for (size_t i = static_cast<size_t>(of.axis) + 1; i < of.dims.size(); ++i) inner *= of.dims[i];
    const auto along = [&](const Traced& tensor) -> std::optional<float> {
      if (tensor == nullptr) return 0.0f;
      const uint64_t count = tensor->size();
      if (count == 0) return std::nullopt;
      return trace_.number(tensor->at(count == 1 ? 0 : element.bits / inner % count));
    };
    const std::optional<float> scale = along(of.scale), zero = along(of.zero);
    if (!scale || !zero) return std::nullopt;
    return (static_cast<float>(of.weight->value(element.bits)) - *zero) * *scale;
  }
  if (of.node == nullptr || of.node->op != "Add" || of.inputs.size() != 2 || depth == 0) return std::nullopt;
  float sum = 0.0f;
  for (const Traced& input : of.inputs) {
    const auto value = value_of(input->at(broadcast_index(element.bits, of.dims, input->dims)), depth - 1);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

/// Says whether the tensor's elements have values, as those of masks and of tables of biases have.
bool OnnxProof::has_values(const Traced& tensor) const {
  return tensor->size() != 0 && value_of(tensor->at(0), kMostAddends).has_value();
}

/// Returns the number that the config adds to the score of a key that a query of a head sees.
float OnnxProof::expected_bias(const LayerSpec& layer, uint64_t head, uint64_t query, uint64_t key) const {
  if (layer.attention.bias == kNone) return 0.0f;
  const std::vector<float>& all = spec_.attention_biases[layer.attention.bias];
  const uint64_t context = spec_.most_layer_rows();
  return all[head * (2 * context - 1) + context - 1 + key - query];
}

}  // namespace mote::convert
