// SPDX-License-Identifier: Apache-2.0
//
// Weights in integers that a graph makes reals of by Cast, Sub and Mul: written as DequantizeLinear, which
// says the same.
#include <algorithm>

#include "converter/onnx/onnx_model.h"

namespace mote::convert {
namespace {

bool holds_integers(OnnxType type) { return type == OnnxType::i8 || type == OnnxType::u8; }
bool holds_reals(OnnxType type) {
  return type == OnnxType::f32 || type == OnnxType::f16 || type == OnnxType::bf16;
}

class OnnxCasts {
 public:
  explicit OnnxCasts(OnnxGraph& graph) : graph_(graph) {
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string& input : node.inputs) ++readers_[input];
      if (node.outputs.size() == 1) makers_[node.outputs[0]] = &node;
    }
    for (const std::string& output : graph.outputs) ++readers_[output];
  }

  void run() {
    std::vector<OnnxNode> nodes;
    for (const OnnxNode& node : graph_.nodes) nodes.push_back(reals_of(node).value_or(node));
    std::erase_if(nodes, [&](const OnnxNode& node) {
      return node.outputs.size() == 1 && replaced_.count(node.outputs[0]) != 0 &&
             readers_[node.outputs[0]] == 0;
    });
    graph_.nodes = std::move(nodes);
  }

 private:
  const OnnxTensor* initializer(const std::string& name) const {
    const auto found = graph_.initializers.find(name);
    return found == graph_.initializers.end() ? nullptr : &found->second;
  }
  const OnnxNode* maker(const std::string& name, const char* op, size_t inputs) const {
    const auto found = makers_.find(name);
    const bool is = found != makers_.end() && found->second->op == op && found->second->domain.empty() &&
                    found->second->inputs.size() == inputs;
    return is ? found->second : nullptr;
  }

  /// The axis of a weight along which a tensor that broadcasts to it varies: its dimensions for none, and one
  /// more where that is no single axis.
  static size_t axis_of(const OnnxTensor& tensor, const OnnxTensor& weight) {
    const size_t rank = weight.dims.size(), own = tensor.dims.size();
    size_t axis = rank;
    for (size_t i = 0; i < own; ++i) {
      if (tensor.dims[i] == 1) continue;
      const size_t at = rank - own + i;
      if (own > rank || axis != rank || tensor.dims[i] != weight.dims[at]) return rank + 1;
      axis = at;
    }
    return axis;
  }

  /// The name of the same numbers as a vector, or as one number.
  std::string flat(const std::string& name, size_t axis, const OnnxTensor& weight) {
    OnnxTensor tensor = *initializer(name);
    tensor.dims.clear();
    if (axis < weight.dims.size()) tensor.dims = {weight.dims[axis]};
    tensor.name = name + "/flat";
    const std::string made = tensor.name;
    graph_.initializers.insert_or_assign(made, std::move(tensor));
    return made;
  }

  /// (Cast(integers) - zero) * scale, or without the zero.
  std::optional<OnnxNode> reals_of(const OnnxNode& node) {
    if (node.op != "Mul" || !node.domain.empty() || node.inputs.size() != 2 || node.outputs.size() != 1)
      return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const OnnxTensor* scale = initializer(node.inputs[1 - i]);
      const OnnxNode* difference = maker(node.inputs[i], "Sub", 2);
      const std::string& inner = difference == nullptr ? node.inputs[i] : difference->inputs[0];
      const OnnxNode* cast = maker(inner, "Cast", 1);
      if (scale == nullptr || cast == nullptr || !holds_reals(scale->type)) continue;
      const OnnxTensor* weight = initializer(cast->inputs[0]);
      const OnnxTensor* zero = difference == nullptr ? nullptr : initializer(difference->inputs[1]);
      if (weight == nullptr || !holds_integers(weight->type) || weight->dims.empty() ||
          (difference != nullptr && zero == nullptr))
        continue;
      const size_t rank = weight->dims.size(), axis = axis_of(*scale, *weight);
      const size_t of_zero = zero == nullptr ? rank : axis_of(*zero, *weight);
      if (axis > rank || of_zero > rank || (of_zero != rank && of_zero != axis)) continue;
      OnnxNode made{
          "DequantizeLinear", node.name, "", {cast->inputs[0], flat(node.inputs[1 - i], axis, *weight)},
          node.outputs,       {}};
      if (zero != nullptr) made.inputs.push_back(flat(difference->inputs[1], of_zero, *weight));
      OnnxAttribute along{"axis"};
      along.integer = static_cast<int64_t>(std::min(axis, rank - 1));
      made.attributes.push_back(along);
      replace(node.inputs[i]);
      if (difference != nullptr && readers_[node.inputs[i]] == 0) replace(inner);
      return made;
    }
    return std::nullopt;
  }

  void replace(const std::string& value) {
    --readers_[value];
    replaced_[value] = true;
  }

  OnnxGraph& graph_;
  std::map<std::string, const OnnxNode*> makers_;
  std::map<std::string, size_t> readers_;
  std::map<std::string, bool> replaced_;
};

}  // namespace

void expand_casts(OnnxModel& model) { OnnxCasts(model.graph).run(); }

}  // namespace mote::convert
