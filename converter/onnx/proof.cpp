// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/proof.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "converter/layers/transformer_builder.h"
#include "host/base/bytes.h"
#include "host/base/work_budget.h"

namespace mote::convert {

const TracedAtom* OnnxProof::atom(const Traced& tensor) const { return trace_.atom(tensor); }

const TracedAtom* OnnxProof::node(const Traced& tensor, const char* op) {
  const TracedAtom* found = atom(tensor);
  if (found == nullptr || found->node == nullptr || found->node->op != op) return nullptr;
  at_ = found->node;
  return found;
}

const TracedAtom& OnnxProof::need(const Traced& tensor, const char* op, const std::string& what) {
  const TracedAtom* any = atom(tensor);
  const TracedAtom* found = node(tensor, op);
  if (found != nullptr) return *found;
  if (any != nullptr && any->node != nullptr) at_ = any->node;
  refuse("{} should be here, by {}", what, op);
}

bool OnnxProof::is_vector(const Traced& tensor) const {
  const TracedAtom* found = trace_.atom(tensor);
  return found != nullptr && found->weight != nullptr && found->weight->dims.size() == 1;
}

bool OnnxProof::is_same(const Traced& a, const Traced& b) {
  const TracedAtom *x = atom(a), *y = atom(b);
  if (x != nullptr || y != nullptr) return x == y;
  return a->elements == b->elements && a->whole == b->whole;
}

bool OnnxProof::is_near(float value, float expected) const {
  const float step = model_->half ? 0x1p-24f : 0.0f;  // between the least numbers
  return std::abs(value - expected) <= static_cast<float>(tolerance()) * std::abs(expected) + step;
}

std::vector<float> OnnxProof::numbers(const Traced& tensor) const {
  std::vector<float> result;
  for (uint64_t i = 0; tensor != nullptr && i < tensor->size(); ++i) {
    const std::optional<float> value = trace_.number(tensor->at(i));
    if (!value) refuse("scales that are computed are not supported");
    result.push_back(*value);
  }
  return result;
}

void OnnxProof::broadcast_dims(const Traced& tensor, const std::vector<uint64_t>& dims) const {
  bool fits = tensor->dims.size() <= dims.size();
  for (size_t i = 0; fits && i < tensor->dims.size(); ++i) {
    const uint64_t own = tensor->dims[tensor->dims.size() - 1 - i];
    fits = own == 1 || own == dims[dims.size() - 1 - i];
  }
  if (!fits) refuse("a sum of tensors of other shapes than [{}]", fmt::join(dims, ", "));
}

Traced OnnxProof::whole(int32_t atom) const {
  auto result = std::make_shared<TracedTensor>();
  result->whole = atom;
  result->dims = trace_.atoms[static_cast<size_t>(atom)].dims;
  return result;
}

// ---- Weights ----

/// Says whether a weight has the values of another, as exporters write a tied matrix twice. Forgets its own
/// name then.
bool OnnxProof::take_copy(const OnnxWeight& known, const OnnxWeight& weight, const std::string& name) {
  const SourceTensor first = onnx_source_tensor(model_, known, name),
                     second = onnx_source_tensor(model_, weight, name);
  charge_work(second.bytes + model_->weights.size());
  if (!has_same_values(first, second)) return false;
  for (const auto& [own, other] : model_->weights) {
    if (other == weight) source_.tensors.erase(own);
  }
  return true;
}

void OnnxProof::bind(const std::string& name, const OnnxWeight& weight) {
  const auto known = model_->weights.find(name);
  if (known == model_->weights.end()) {
    const auto of_other = source_.tensors.find(name);
    if (of_other != source_.tensors.end() &&
        !has_same_values(of_other->second, onnx_source_tensor(model_, weight, name)))
      refuse("its {} are not those of the other graph", name);
    source_.tensors[name] = onnx_source_tensor(model_, weight, name);
    model_->weights[name] = weight;
  } else if (known->second != weight && !take_copy(known->second, weight, name)) {
    refuse("it uses {}, where the config implies {}", shown(weight.tensor->name), name);
  }
}

OnnxWeight OnnxProof::weight_of(const TracedAtom& atom) const {
  return {atom.weight, false, numbers(atom.scale), numbers(atom.zero)};
}

void OnnxProof::bind_vector(const std::string& name, const Traced& vector) {
  if (!is_vector(vector)) refuse("{} should be here, as a vector of the file", name);
  bind(name, weight_of(*trace_.atom(vector)));
}

/// A product with a weight, without a bias that is added behind it.
std::optional<OnnxProof::Product> OnnxProof::core(const Traced& tensor) {
  const TracedAtom* found = atom(tensor);
  if (found == nullptr || found->node == nullptr) return std::nullopt;
  const OnnxNode& node = *found->node;
  const auto is_weight = [&](const Traced& weight, size_t rank) {
    return weight->whole >= 0 && weight->dims.size() == rank &&
           trace_.atoms[static_cast<size_t>(weight->whole)].weight != nullptr;
  };
  const auto is_matrix = [&](const Traced& weight) { return is_weight(weight, 2); };
  if (node.op == "Conv" && is_weight(found->inputs[1], 3)) {
    const Traced bias = found->inputs.size() > 2 ? found->inputs[2] : nullptr;
    return Product{&node, found->inputs[0], found->inputs[1], bias, false, {}, {}};
  }
  if (node.op == "MatMul" && is_matrix(found->inputs[1]))
    return Product{&node, found->inputs[0], found->inputs[1], nullptr, false, {}, {}};
  if (node.op == "Gemm" && is_matrix(found->inputs[1])) {
    if (node.number("alpha", 1.0f) != 1.0f || node.number("beta", 1.0f) != 1.0f) return std::nullopt;
    const Traced bias = found->inputs.size() > 2 ? found->inputs[2] : nullptr;
    return Product{&node, found->inputs[0], found->inputs[1], bias, node.integer("transB", 0) != 0, {}, {}};
  }
  if (node.op != "Mul") return std::nullopt;
  // Integers: rows that are rounded at run time, times a weight, times both scales.
  for (size_t i = 0; i < 2; ++i) {
    const TracedAtom *sums = atom(found->inputs[i]), *scale = atom(found->inputs[1 - i]);
    if (sums == nullptr || sums->node == nullptr || sums->inputs.size() != 4) continue;
    const bool convolves = sums->node->op == "ConvInteger";
    if (!convolves && sums->node->op != "MatMulInteger") continue;
    if (scale == nullptr || scale->node == nullptr || scale->node->op != "Mul") continue;
    const TracedAtom *rows = atom(sums->inputs[0]), *zero = atom(sums->inputs[2]);
    for (size_t s = 0; s < 2; ++s) {
      const TracedAtom* row_scale = atom(scale->inputs[s]);
      if (rows == nullptr || zero == nullptr || row_scale == nullptr || rows->node == nullptr) continue;
      if (rows->node->op != "DynamicQuantizeLinear" || row_scale->node != rows->node ||
          zero->node != rows->node || rows->output != 0 || row_scale->output != 1 || zero->output != 2 ||
          !is_weight(sums->inputs[1], convolves ? 3 : 2))
        continue;
      trace_.rounds = true;
      return Product{sums->node,
                     rows->inputs[0],
                     sums->inputs[1],
                     nullptr,
                     false,
                     numbers(scale->inputs[1 - s]),
                     numbers(sums->inputs[3])};
    }
  }
  return std::nullopt;
}

std::optional<OnnxProof::Product> OnnxProof::product(const Traced& tensor) {
  if (const auto found = core(tensor)) return found;
  const TracedAtom* added = atom(tensor);
  if (added == nullptr || added->node == nullptr || added->node->op != "Add") return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    if (!is_vector(added->inputs[i])) continue;
    std::optional<Product> found = core(added->inputs[1 - i]);
    if (!found || found->bias != nullptr) continue;
    found->bias = added->inputs[i];
    return found;
  }
  return std::nullopt;
}

void OnnxProof::bind_product(const std::string& name, const Product& product) {
  const TracedAtom& atom = trace_.atoms[static_cast<size_t>(product.weight->whole)];
  OnnxWeight weight = weight_of(atom);
  weight.in_out = product.turned == product.weight->transposed;
  if (weight.scales.size() > 1 && atom.axis != (weight.in_out ? 1 : 0))
    refuse("scales along the inputs of a weight are not supported");
  if (weight.scales.empty()) weight.scales = product.scales;
  if (weight.zeros.empty()) weight.zeros = product.zeros;
  bind(name, weight);
}

Traced OnnxProof::linear(const Traced& tensor, const std::string& name, const std::string& bias) {
  const TracedAtom* any = atom(tensor);
  if (any != nullptr && any->node != nullptr) at_ = any->node;
  const std::optional<Product> found = product(tensor);
  if (!found || found->weight->dims.size() != 2) refuse("the product with {}.weight should be here", name);
  at_ = found->node;
  bind_product(name + ".weight", *found);
  if (bias.empty() != (found->bias == nullptr))
    refuse("{}", bias.empty() ? "a bias that the config does not imply" : "a bias is missing: " + bias);
  if (!bias.empty()) bind_vector(bias, found->bias);
  return found->x;
}

// ---- Blocks ----

/// x of x - mean(x).
std::optional<Traced> OnnxProof::centered(const Traced& tensor) {
  const TracedAtom* difference = node(tensor, "Sub");
  if (difference == nullptr) return std::nullopt;
  const Traced x = difference->inputs[0];
  const TracedAtom* mean = node(difference->inputs[1], "ReduceMean");
  if (mean == nullptr || !is_same(mean->inputs[0], x)) return std::nullopt;
  return x;
}

Traced OnnxProof::norm(const Traced& tensor, const std::string& name) {
  const auto check_eps = [&](float eps) {
    if (!is_near(eps, spec_.norm_eps)) refuse("epsilon is {}, the config's {}", eps, spec_.norm_eps);
  };
  if (const TracedAtom* fused = node(tensor, "LayerNormalization")) {
    const auto rank = static_cast<int64_t>(fused->inputs[0]->dims.size());
    const int64_t axis = fused->node->integer("axis", -1);
    if (axis != -1 && axis != rank - 1) refuse("a norm over more than rows");
    check_eps(fused->node->number("epsilon", 1e-5f));
    if (fused->inputs.size() < 3 || fused->inputs[2] == nullptr) refuse("a norm without bias");
    bind_vector(name + ".weight", fused->inputs[1]);
    bind_vector(name + ".bias", fused->inputs[2]);
    return fused->inputs[0];
  }
  if (spec_.norm == NormKind::rms) return rms_norm(tensor, name);
  const std::string what = "the norm " + name;
  const auto with_vector = [&](const TracedAtom& atom, const std::string& vector) {
    const size_t i = is_vector(atom.inputs[1]) ? 1 : 0;
    bind_vector(vector, atom.inputs[i]);
    return atom.inputs[1 - i];
  };
  const Traced scaled = with_vector(need(tensor, "Add", what), name + ".bias");
  const Traced normed = with_vector(need(scaled, "Mul", what), name + ".weight");
  const TracedAtom& quotient = need(normed, "Div", what);
  const std::optional<Traced> x = centered(quotient.inputs[0]);
  at_ = quotient.node;
  if (!x) refuse("{} should divide what has a mean of 0", what);
  const TracedAtom& root = need(quotient.inputs[1], "Sqrt", what);
  const TracedAtom& variance = need(root.inputs[0], "Add", what);
  const size_t eps = variance.inputs[1]->size() == 1 ? 1 : 0;
  const std::optional<float> value = trace_.scalar(variance.inputs[eps]);
  if (!value) refuse("epsilon is not known");
  check_eps(*value);
  const TracedAtom& mean = need(variance.inputs[1 - eps], "ReduceMean", what);
  std::optional<Traced> squared;
  if (const TracedAtom* power = node(mean.inputs[0], "Pow")) {
    if (trace_.scalar(power->inputs[1]) == 2.0f) squared = centered(power->inputs[0]);
  } else if (const TracedAtom* product = node(mean.inputs[0], "Mul")) {
    if (is_same(product->inputs[0], product->inputs[1])) squared = centered(product->inputs[0]);
  }
  at_ = mean.node;
  if (!squared || !is_same(*squared, *x)) refuse("{} should take the mean of squares here", what);
  return *x;
}

std::pair<Traced, Traced> OnnxProof::sum(const Traced& tensor, const std::string& name) {
  const TracedAtom& added = need(tensor, "Add", "the sum of " + name + " and its input");
  const auto known = model_->weights.find(name + ".weight");
  std::optional<size_t> chosen;
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<Product> found = product(added.inputs[i]);
    if (!found) continue;
    const OnnxTensor* weight = trace_.atoms[static_cast<size_t>(found->weight->whole)].weight;
    if (known != model_->weights.end() && known->second.tensor == weight) chosen = i;
    if (!chosen) chosen = i;
  }
  at_ = added.node;
  if (!chosen) refuse("none of what it adds is a product with {}.weight", name);
  return {added.inputs[*chosen], added.inputs[1 - *chosen]};
}

Traced OnnxProof::layer(Traced x, const LayerSpec& layer) {
  const auto own = [&](const std::string& pattern) { return of_layer(pattern, layer); };
  const LayerNames& names = layer.names;
  const auto branch = [&](const BranchNorms& norms, const std::string& last, bool bias, const auto& inner) {
    if (!norms.sum.empty()) x = norm(x, own(norms.sum));
    const auto [output, residual] = sum(x, own(last));
    Traced input = inner(linear(output, own(last), bias ? own(last) + ".bias" : ""));
    if (!norms.before.empty()) input = norm(input, own(norms.before));
    if (!is_same(input, residual)) refuse("{} should read what is added to its branch", own(last));
    x = residual;
  };
  branch(layer.names.ffn_norms, names.down, layer.ffn.bias, [&](const Traced& inner) {
    if (layer.ffn.kind == Ffn::gated) return gated(inner, layer);
    const Traced up = activation(inner, layer.ffn.activation, own(names.up));
    return linear(up, own(names.up), layer.ffn.bias ? own(names.up) + ".bias" : "");
  });
  if (layer.cross != nullptr) {
    LayerSpec cross = *layer.cross;
    cross.weights = layer.weights;
    branch(cross.names.attention_norms, cross.names.o, cross.attention.o_bias,
           [&](const Traced& merged) { return attention(merged, cross, true); });
  }
  branch(layer.names.attention_norms, names.o, layer.attention.o_bias,
         [&](const Traced& merged) { return attention(merged, layer, false); });
  return x;
}

void OnnxProof::run() {
  const Traced hidden = head(output());
  pooler(hidden);
  Traced x = hidden;
  if (!spec_.names.final_norm.empty()) x = norm(x, spec_.names.final_norm);
  for (size_t i = spec_.layers.size(); i-- > 0;) x = layer(x, spec_.layers[i]);
  if (spec_.picture.format.height != 0) {
    picture(x);
  } else if (spec_.conv_stem != nullptr) {
    sound(x);
  } else {
    embedding(x);
  }
}

}  // namespace mote::convert
