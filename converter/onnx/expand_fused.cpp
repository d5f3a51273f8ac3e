// SPDX-License-Identifier: Apache-2.0
//
// onnxruntime's own operators, which its optimizer puts in place of several: written as those again. A form
// that is not known stays as it is, and is refused by its name.
#include <cstring>

#include "converter/onnx/onnx_model.h"

namespace mote::convert {
namespace {

class OnnxExpander {
 public:
  explicit OnnxExpander(OnnxGraph& graph) : graph_(graph) {}

  void run() {
    for (const OnnxNode& node : graph_.nodes) {
      for (const OnnxAttribute& attribute : node.attributes) {
        if (attribute.graph != nullptr) OnnxExpander(*attribute.graph).run();
      }
      if (node.domain != "com.microsoft" || node.outputs.empty() || node.inputs.empty() || !expand(node))
        nodes_.push_back(node);
    }
    graph_.nodes = std::move(nodes_);
  }

 private:
  static bool has(const OnnxNode& node, size_t input) {
    return input < node.inputs.size() && !node.inputs[input].empty();
  }

  /// A node of the fused one; its output, which is a new value where none is given.
  std::string add(const OnnxNode& from, const char* op, std::vector<std::string> inputs,
                  std::vector<OnnxAttribute> attributes = {}, std::string output = "") {
    if (output.empty()) output = from.outputs[0] + "/" + op + std::to_string(nodes_.size());
    nodes_.push_back({op, from.name, "", std::move(inputs), {output}, std::move(attributes)});
    return output;
  }

  std::string number(const OnnxNode& from, float value) {
    std::vector<std::byte>& bytes = graph_.decoded.emplace_back(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    OnnxTensor tensor{from.outputs[0] + "/number", OnnxType::f32, {}, bytes};
    const std::string name = tensor.name;
    graph_.initializers.insert_or_assign(name, std::move(tensor));
    return name;
  }

  bool expand(const OnnxNode& node) {
    const std::string& op = node.op;
    if (op == "Gelu" || op == "BiasGelu" || op == "FastGelu") return gelu(node, op == "FastGelu");
    if (op == "FusedMatMul") return product(node);
    if (op == "FusedGemm") return gemm(node);
    if (op == "SkipLayerNormalization") return norm(node);
    if (op == "DynamicQuantizeMatMul") return integers(node);
    return false;
  }

  bool gelu(const OnnxNode& node, bool by_tanh) {
    std::string x = node.inputs[0];
    if (has(node, 1)) x = add(node, "Add", {x, node.inputs[1]});
    OnnxAttribute form{"approximate"};
    form.text = by_tanh ? "tanh" : "none";
    add(node, "Gelu", {x}, {form}, node.outputs[0]);
    return true;
  }

  bool product(const OnnxNode& node) {
    for (const char* turned : {"transA", "transB", "transBatchA", "transBatchB"}) {
      if (node.integer(turned, 0) != 0) return false;
    }
    const std::string product = add(node, "MatMul", node.inputs);
    add(node, "Mul", {product, number(node, node.number("alpha", 1.0f))}, {}, node.outputs[0]);
    return true;
  }

  bool gemm(const OnnxNode& node) {
    const OnnxAttribute* activation = node.find("activation");
    if (activation == nullptr || (activation->text != "Tanh" && activation->text != "Relu")) return false;
    const std::string x = add(node, "Gemm", node.inputs, node.attributes);
    add(node, activation->text == "Tanh" ? "Tanh" : "Relu", {x}, {}, node.outputs[0]);
    return true;
  }

  /// norm(input + skip + bias); the sum may be an output too.
  bool norm(const OnnxNode& node) {
    if (!has(node, 3)) return false;
    const bool shows_sum = node.outputs.size() > 3 && !node.outputs[3].empty();
    std::string first = node.inputs[0];
    if (has(node, 4)) first = add(node, "Add", {first, node.inputs[4]});
    const std::string sum = add(node, "Add", {first, node.inputs[1]}, {}, shows_sum ? node.outputs[3] : "");
    OnnxAttribute axis{"axis"}, epsilon{"epsilon"};
    axis.integer = -1;
    epsilon.number = node.number("epsilon", 1e-12f);
    add(node, "LayerNormalization", {sum, node.inputs[2], node.inputs[3]}, {axis, epsilon}, node.outputs[0]);
    return true;
  }

  /// Rows rounded at run time, times a weight of integers with a scale, and a bias.
  bool integers(const OnnxNode& node) {
    if (!has(node, 2)) return false;
    const std::string base = node.outputs[0] + "/rounded";
    const std::vector<std::string> rounded = {base, base + "_scale", base + "_zero"};
    nodes_.push_back({"DynamicQuantizeLinear", node.name, "", {node.inputs[0]}, rounded, {}});
    const std::string zero = has(node, 3) ? node.inputs[3] : "";
    OnnxAttribute to{"to"};
    to.integer = static_cast<int64_t>(OnnxType::f32);
    const std::string sums = add(node, "MatMulInteger", {rounded[0], node.inputs[1], rounded[2], zero});
    const std::string reals = add(node, "Cast", {sums}, {to});
    const std::string scale = add(node, "Mul", {rounded[1], node.inputs[2]});
    const std::string scaled = add(node, "Mul", {reals, scale}, {}, has(node, 4) ? "" : node.outputs[0]);
    if (has(node, 4)) add(node, "Add", {scaled, node.inputs[4]}, {}, node.outputs[0]);
    return true;
  }

  OnnxGraph& graph_;
  std::vector<OnnxNode> nodes_;
};

}  // namespace

void expand_fused(OnnxModel& model) { OnnxExpander(model.graph).run(); }

}  // namespace mote::convert
