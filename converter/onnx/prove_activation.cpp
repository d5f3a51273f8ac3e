// SPDX-License-Identifier: Apache-2.0
//
// An activation may be written in many ways; as a function of one number it is compared in its values.
#include <cmath>
#include <numbers>

#include "converter/onnx/proof.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr int kMaxOperators = 16;
constexpr uint64_t kOperatorSteps = 64;

double expected_activation(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
    case Activation::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return x > 0 ? x : 0.0;
    case Activation::quick_gelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
  }
  return NAN;
}

}  // namespace

/// The output of the linear that a chain of elementwise operators begins with; null: there is none.
Traced OnnxProof::base_of(const Traced& tensor, int depth) {
  charge_work(kOperatorSteps);  // of inputs that are one value, each is followed
  if (product(tensor)) return tensor;
  const TracedAtom* found = atom(tensor);
  if (found == nullptr || found->node == nullptr || depth == 0) return nullptr;
  const std::string& op = found->node->op;
  if (op == "MatMul" || op == "Softmax" || op == "ReduceMean" || op == "LayerNormalization") return nullptr;
  for (const Traced& input : found->inputs) {
    if (input == nullptr || trace_.scalar(input)) continue;
    if (const Traced base = base_of(input, depth - 1)) return base;
  }
  return nullptr;
}

double OnnxProof::evaluate(const Traced& tensor, int32_t base, double x, int depth) {
  charge_work(kOperatorSteps);
  if (tensor == nullptr) refuse("an input is missing");
  if (const std::optional<float> number = trace_.scalar(tensor)) return *number;
  const TracedAtom* found = atom(tensor);
  if (found != nullptr && found == &trace_.atoms[static_cast<size_t>(base)]) return x;
  if (found == nullptr || found->node == nullptr || found->inputs.empty() || depth == 0)
    refuse("the activation reads something else than one linear's output");
  const OnnxNode& node = *found->node;
  const auto input = [&](size_t i) { return evaluate(found->inputs.at(i), base, x, depth - 1); };
  const size_t count = found->inputs.size();
  if (node.op == "Add" && count == 2) return input(0) + input(1);
  if (node.op == "Sub" && count == 2) return input(0) - input(1);
  if (node.op == "Mul" && count == 2) return input(0) * input(1);
  if (node.op == "Div" && count == 2) return input(0) / input(1);
  if (node.op == "Pow" && count == 2) return std::pow(input(0), input(1));
  if (node.op == "Min" && count == 2) return std::fmin(input(0), input(1));
  if (node.op == "Max" && count == 2) return std::fmax(input(0), input(1));
  if (node.op == "Erf") return std::erf(input(0));
  if (node.op == "Tanh") return std::tanh(input(0));
  if (node.op == "Exp") return std::exp(input(0));
  if (node.op == "Neg") return -input(0);
  if (node.op == "Sqrt") return std::sqrt(input(0));
  if (node.op == "Relu") return std::fmax(input(0), 0.0);
  if (node.op == "Sigmoid") return 1.0 / (1.0 + std::exp(-input(0)));
  if (node.op == "Gelu") {
    const OnnxAttribute* form = node.find("approximate");
    const bool by_tanh = form != nullptr && form->text == "tanh";
    return expected_activation(by_tanh ? Activation::gelu_tanh : Activation::gelu, input(0));
  }
  at_ = &node;
  refuse("the operator is not supported in an activation");
}

Traced OnnxProof::activation(const Traced& tensor, Activation activation, const std::string& what) {
  const TracedAtom* last = atom(tensor);
  if (last != nullptr && last->node != nullptr) at_ = last->node;
  const Traced base = base_of(tensor, kMaxOperators);
  if (base == nullptr) refuse("the activation of {} should be here", what);
  const auto index = static_cast<int32_t>(atom(base) - trace_.atoms.data());
  for (int i = -40; i <= 40; ++i) {
    const double x = i / 4.0, value = evaluate(tensor, index, x, kMaxOperators);
    const double expected = expected_activation(activation, x);
    if (!(std::abs(value - expected) <= tolerance() * (1.0 + std::abs(expected))))
      refuse("the activation of {} makes {} of {}, the config's {}", what, value, x, expected);
  }
  return base;
}

}  // namespace mote::convert
