// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "converter/onnx/onnx_model.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

/// Says whether a name is one that the model's authors gave, none that an exporter made up.
bool is_own_name(const std::string& name) {
  return name.find('.') != std::string::npos && name.find_first_of("/:") == std::string::npos &&
         !name.ends_with("_scale") && !name.ends_with("_zero_point");
}

bool is_real(OnnxType type) {
  return type == OnnxType::f32 || type == OnnxType::f16 || type == OnnxType::bf16;
}

/// Returns the name of a weight without the end that onnxruntime's quantizer gives it.
std::string unquantized(const std::string& name) {
  constexpr std::string_view kEnd = "_quantized";
  return name.ends_with(kEnd) ? name.substr(0, name.size() - kEnd.size()) : name;
}

std::vector<float> onnx_values(const OnnxTensor* tensor) {
  std::vector<float> values;
  if (tensor != nullptr) charge_bytes(tensor->size() * sizeof(float));
  for (uint64_t i = 0; tensor != nullptr && i < tensor->size(); ++i)
    values.push_back(static_cast<float>(tensor->value(i)));
  return values;
}

/// Counts the steps of a few lookups by name.
constexpr uint64_t kStepsOfSearch = 64;

class OnnxNamer {
 public:
  explicit OnnxNamer(OnnxModel& model) : model_(model) {
    for (const OnnxNode& node : model.graph.nodes) {
      for (const std::string& output : node.outputs) makers_[output] = &node;
      for (const std::string& input : node.inputs) readers_[input].push_back(&node);
    }
  }

  void run() {
    for (const OnnxNode& node : model_.graph.nodes) {
      if (node.op == "MatMul" || node.op == "Gemm" || node.op == "MatMulInteger") {
        linear(node);
      } else if (node.op == "Identity" && node.outputs.size() == 1) {
        const Found found = find(node.outputs[0]);
        if (found.weight.tensor != nullptr && !found.turned) name(node.outputs[0], found.weight);
      } else if (node.op == "DequantizeLinear") {
        looked_up(node);
      }
    }
    for (const auto& [key, tensor] : model_.graph.initializers) {
      const bool is_read = readers_.count(key) != 0;
      if (is_read && is_real(tensor.type) && used_.count(&tensor) == 0) name(key, {&tensor});
    }
  }

 private:
  struct Found {
    OnnxWeight weight;
    std::string own_name;
    bool turned = false;
  };

  void name(const std::string& key, const OnnxWeight& weight) {
    if (is_own_name(key)) model_.weights.emplace(key, weight);
  }

  const OnnxTensor* initializer(const OnnxNode& node, size_t input) const {
    if (input >= node.inputs.size()) return nullptr;
    const auto found = model_.graph.initializers.find(node.inputs[input]);
    return found == model_.graph.initializers.end() ? nullptr : &found->second;
  }

  void set_scales(const OnnxNode& node, size_t scale, size_t zero, OnnxWeight& weight) const {
    weight.scales = onnx_values(initializer(node, scale));
    weight.zeros = onnx_values(initializer(node, zero));
  }

  /// The initializer behind a value that only turns it, renames it or makes reals of its integers.
  Found find(const std::string& value) const {
    Found found;
    std::string at = value;
    for (int depth = 0; depth < 8; ++depth) {
      const auto own = model_.graph.initializers.find(at);
      if (own != model_.graph.initializers.end()) {
        found.weight.tensor = &own->second;
        if (found.own_name.empty()) found.own_name = unquantized(at);
        return found;
      }
      const auto maker = makers_.find(at);
      if (maker == makers_.end() || maker->second->inputs.empty()) break;
      if (found.own_name.empty() && is_own_name(at) && at.ends_with(".weight")) found.own_name = at;
      const OnnxNode& node = *maker->second;
      if (node.op == "Transpose")
        found.turned = !found.turned;
      else if (node.op == "DequantizeLinear")
        set_scales(node, 1, 2, found.weight);
      else if (node.op != "Identity" && node.op != "Cast")
        break;
      at = node.inputs[0];
    }
    found.weight.tensor = nullptr;
    return found;
  }

  /// The only node that reads the first output.
  const OnnxNode* next(const OnnxNode& node) const {
    const auto found = node.outputs.empty() ? readers_.end() : readers_.find(node.outputs[0]);
    return found == readers_.end() || found->second.size() != 1 ? nullptr : found->second[0];
  }

  /// The scale of a weight in integers: behind the product, the scale of the rows times this one's.
  void set_integer_scales(const OnnxNode& node, OnnxWeight& weight) const {
    weight.zeros = onnx_values(initializer(node, 3));
    const OnnxNode* cast = next(node);
    const OnnxNode* scaled = cast == nullptr ? nullptr : next(*cast);
    if (scaled == nullptr || scaled->op != "Mul" || scaled->inputs.size() != 2) return;
    for (const std::string& input : scaled->inputs) {
      const auto maker = makers_.find(input);
      if (maker == makers_.end() || maker->second->op != "Mul") continue;
      for (size_t i = 0; i < maker->second->inputs.size(); ++i) {
        charge_work(kStepsOfSearch);
        if (initializer(*maker->second, i) != nullptr)
          weight.scales = onnx_values(initializer(*maker->second, i));
      }
    }
  }

  std::optional<std::string> name_of_bias(const OnnxNode& node) const {
    constexpr size_t kMostAdded = 3;   // inputs of Gemm, which has the most
    constexpr int kMostRoundings = 4;  // between two of the operators that are followed
    const OnnxNode* at = &node;
    for (int depth = 0; depth < 4 && at != nullptr; ++depth) {
      for (int i = 0; at != nullptr && (at->op == "QuantizeLinear" || at->op == "DequantizeLinear"); ++i)
        at = i == kMostRoundings ? nullptr : next(*at);
      if (at == nullptr) break;
      const bool adds = at->op == "Add" || at->op == "Gemm";
      for (size_t i = 0; adds && i < std::min(at->inputs.size(), kMostAdded); ++i) {
        charge_work(kStepsOfSearch);
        const std::string bias = find(at->inputs[i]).own_name;
        if (bias.ends_with(".bias") && is_own_name(bias)) return bias.substr(0, bias.size() - 4) + "weight";
      }
      at = next(*at);
      if (at != nullptr && at->op != "Cast" && at->op != "Mul" && at->op != "Add" && at->op != "Reshape" &&
          at->op != "QuantizeLinear")
        break;
    }
    return std::nullopt;
  }

  static std::optional<std::string> name_of_path(const OnnxNode& node) {
    const size_t end = node.name.rfind('/');
    if (node.name.empty() || node.name[0] != '/' || end == 0) return std::nullopt;
    std::string path = node.name.substr(1, end - 1);
    std::replace(path.begin(), path.end(), '/', '.');
    return path + ".weight";
  }

  void linear(const OnnxNode& node) {
    if (node.inputs.size() < 2) return;
    Found found = find(node.inputs[1]);
    OnnxWeight& weight = found.weight;
    if (weight.tensor == nullptr || weight.tensor->dims.size() != 2) return;
    used_[weight.tensor] = true;
    const bool turned = node.op == "Gemm" && node.integer("transB", 0) != 0;
    weight.in_out = turned == found.turned;
    if (node.op == "MatMulInteger") set_integer_scales(node, weight);
    if (is_own_name(found.own_name)) {
      name(found.own_name, weight);
    } else if (const auto key = name_of_bias(node)) {
      name(*key, weight);
    } else if (const auto path = name_of_path(node)) {
      name(*path, weight);
    }
  }

  /// A table of integers whose rows become reals after they are chosen.
  void looked_up(const OnnxNode& node) {
    if (node.inputs.empty() || node.outputs.empty()) return;
    Found found = find(node.inputs[0]);
    std::string at = node.inputs[0];
    for (int depth = 0; depth < 4 && found.weight.tensor == nullptr; ++depth) {  // what moves chosen rows
      const auto maker = makers_.find(at);
      if (maker == makers_.end() || maker->second->inputs.empty()) break;
      at = maker->second->inputs[0];
      if (maker->second->op == "Gather")
        found = find(at);
      else if (maker->second->op != "Transpose" && maker->second->op != "Unsqueeze")
        break;
    }
    if (found.weight.tensor == nullptr || found.turned || used_.count(found.weight.tensor) != 0) return;
    const OnnxNode* reader = next(node);
    if (reader != nullptr && (reader->op == "MatMul" || reader->op == "Gemm" || reader->op == "Transpose"))
      return;
    set_scales(node, 1, 2, found.weight);
    const bool says = is_own_name(node.outputs[0]) && node.outputs[0].ends_with(".weight");
    name(says ? node.outputs[0] : found.own_name, found.weight);
  }

  OnnxModel& model_;
  std::map<std::string, const OnnxNode*> makers_;
  std::map<std::string, std::vector<const OnnxNode*>> readers_;
  std::map<const OnnxTensor*, bool> used_;
};

}  // namespace

void name_onnx_weights(OnnxModel& model) { OnnxNamer(model).run(); }

void unwrap_onnx_weights(OnnxModel& model) {
  if (model.weights.empty()) return;
  // Names are in order: what the first and the last share, all do.
  const std::string &first = model.weights.begin()->first, &last = model.weights.rbegin()->first;
  const auto ends = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  const std::string shared(first.begin(), ends.first);
  const size_t bytes = shared.rfind('.') + 1;  // 0 where there is none
  std::map<std::string, OnnxWeight> weights;
  for (auto& [name, weight] : model.weights) weights.emplace(name.substr(bytes), std::move(weight));
  model.weights = std::move(weights);
}

}  // namespace mote::convert
