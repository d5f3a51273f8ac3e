// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "converter/onnx/piper_graph.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr double kNormEps = 1e-5;  // of all norms

/// The logarithms of a scale, of a file that has minus these, or minus these and then the exponential.
struct LogScale : RowReader {
  std::shared_ptr<const OnnxModel> model;
  const OnnxTensor* tensor = nullptr;
  bool has_exponentials = false;

  void read(uint64_t row, std::span<float> out) const override {
    for (uint64_t i = 0; i < out.size(); ++i) {
      const double value = tensor->value(row * out.size() + i);
      out[i] = static_cast<float>(has_exponentials ? -std::log(value) : -value);
    }
  }
};

bool is_real(const OnnxTensor& tensor) {
  return tensor.type == OnnxType::f32 || tensor.type == OnnxType::f16 || tensor.type == OnnxType::bf16 ||
         tensor.type == OnnxType::f64;
}

class PiperNamer {
 public:
  explicit PiperNamer(std::shared_ptr<const OnnxModel> model) {
    own_.model = std::move(model);
    for (const OnnxNode& node : graph().nodes) {
      for (const std::string& output : node.outputs) own_.makers[output] = &node;
    }
  }

  PiperWeights run() {
    charge_work(kStepsOfNode * graph().nodes.size());
    for (const OnnxNode& node : graph().nodes) {
      check_inputs(node);
      if (node.op == "Conv" || node.op == "ConvTranspose") name_convolution(node);
      if (node.op == "Gather") name_table(node);
      if (node.op == "Mul") name_scale(node);
      if (node.op == "Div") take_divisor(node);
      if (node.op == "Sqrt") check_epsilon(node);
      if (node.op == "LessOrEqual") take_bound(node);
    }
    for (const auto& [name, tensor] : graph().initializers) {
      if (taken_.count(&tensor) != 0 || !is_real(tensor)) continue;
      const std::string own = piper_to_hf(name);
      if (!own.empty()) {
        take(own, tensor);
      } else if (tensor.dims.size() > 1) {
        own_.refuse(shown(name) + " is no weight of the model");
      }
    }
    return std::move(own_);
  }

 private:
  static constexpr uint64_t kStepsOfNode = 64;

  const OnnxGraph& graph() const { return own_.model->graph; }

  void check_inputs(const OnnxNode& node) const {
    charge_work(kStepsOfNode * node.inputs.size());
    for (const std::string& input : node.inputs) {
      const bool is_given = std::any_of(graph().inputs.begin(), graph().inputs.end(),
                                        [&](const OnnxInput& given) { return given.name == input; });
      if (!input.empty() && !is_given && own_.maker(input) == nullptr &&
          graph().initializers.count(input) == 0)
        own_.refuse(
            fmt::format("{} {} reads {}, which nothing makes", node.op, shown(node.name), shown(input)));
    }
  }

  /// Returns the number of an input that is one known number.
  std::optional<double> number(const OnnxNode& node, size_t input) const {
    const OnnxTensor* tensor = own_.initializer(node, input);
    if (tensor == nullptr && input < node.inputs.size()) {
      const OnnxNode* constant = own_.maker(node.inputs[input]);
      const OnnxAttribute* value =
          constant != nullptr && constant->op == "Constant" ? constant->find("value") : nullptr;
      tensor = value == nullptr ? nullptr : value->tensor;
    }
    if (tensor == nullptr || tensor->size() != 1 || !is_real(*tensor)) return std::nullopt;
    return tensor->value(0);
  }

  /// Returns the module that a node is of: the path in its name or, of older exporters, the name of its bias.
  std::string module_of(const OnnxNode& node) const {
    const size_t end = node.name.rfind('/');
    if (node.name.starts_with("/") && end > 0) {
      std::string path = node.name.substr(1, end - 1);
      std::replace(path.begin(), path.end(), '/', '.');
      return path;
    }
    for (const auto& [input, ending] : {std::pair{size_t{2}, ".bias"}, std::pair{size_t{1}, ".weight"}}) {
      if (input < node.inputs.size() && node.inputs[input].ends_with(ending))
        return node.inputs[input].substr(0, node.inputs[input].size() - std::string_view(ending).size());
    }
    return "";
  }

  void take(const std::string& name, const OnnxTensor& tensor) {
    taken_.insert(&tensor);
    SourceTensor weight = onnx_source_tensor(own_.model, {&tensor}, name);
    // A convolution of one tap where Hugging Face has a linear.
    const bool is_linear = name.find(".attention.") != std::string::npos && name.ends_with(".weight");
    if (is_linear && weight.shape.size() == 3 && weight.shape[2] == 1) weight.shape.pop_back();
    own_.tensors[name] = std::move(weight);
  }

  void name_convolution(const OnnxNode& node) {
    const std::string module = module_of(node), name = piper_to_hf(module);
    const OnnxTensor* weight = own_.initializer(node, 1);
    if (weight == nullptr || weight->dims.size() != 3 || name.empty())
      own_.refuse(fmt::format("its {} {} is none of the model's", node.op, shown(node.name)));
    if (!own_.convolutions.emplace(name, &node).second)
      own_.refuse(fmt::format("there are two {}", shown(module)));
    take(name + ".weight", *weight);
    if (const OnnxTensor* bias = own_.initializer(node, 2)) take(name + ".bias", *bias);
  }

  void name_table(const OnnxNode& node) {
    const OnnxTensor* table = own_.initializer(node, 0);
    if (table == nullptr || node.inputs.size() < 2 || !is_real(*table) || table->dims.size() != 2) return;
    if (node.inputs[1] == "input") take("text_encoder.embed_tokens.weight", *table);
    if (node.inputs[1] == "sid") take("embed_speaker.weight", *table);
  }

  /// Takes the factor of (x - dp.flows.0.m) exp(-dp.flows.0.logs), which exporters compute as far as they
  /// can.
  void name_scale(const OnnxNode& node) {
    for (size_t i = 0; i < 2 && node.inputs.size() == 2; ++i) {
      const OnnxNode* difference = own_.maker(node.inputs[1 - i]);
      if (difference == nullptr || difference->op != "Sub" || difference->inputs.size() != 2 ||
          difference->inputs[1] != "dp.flows.0.m")
        continue;
      const OnnxTensor* factor = own_.initializer(node, i);
      const OnnxNode* exponential = own_.maker(node.inputs[i]);
      const bool is_known = factor != nullptr;
      if (!is_known && exponential != nullptr && exponential->op == "Exp")
        factor = own_.initializer(*exponential, 0);
      if (factor == nullptr || piper_to_hf(factor->name) != "") continue;
      auto reader = std::make_shared<LogScale>();
      reader->model = own_.model;
      reader->tensor = factor;
      reader->has_exponentials = is_known;
      SourceTensor weight{SourceType::f32, factor->dims, factor->bytes.data(), factor->bytes.size()};
      weight.reader = std::move(reader);
      taken_.insert(factor);
      own_.tensors["duration_predictor.flows.0.log_scale"] = std::move(weight);
    }
  }

  void take_divisor(const OnnxNode& node) {
    if (const auto divisor = number(node, 1)) own_.divisors.insert(*divisor);
  }

  void check_epsilon(const OnnxNode& node) const {
    const OnnxNode* sum = node.inputs.empty() ? nullptr : own_.maker(node.inputs[0]);
    if (sum == nullptr || sum->op != "Add") return;
    for (size_t i = 0; i < 2; ++i) {
      const auto eps = number(*sum, i);
      if (eps && std::abs(*eps - kNormEps) > 1e-3 * kNormEps)
        own_.refuse(fmt::format("a norm's epsilon is {}", *eps));
    }
  }

  void take_bound(const OnnxNode& node) {
    const auto bound = number(node, 1);
    if (!bound) return;
    if (own_.bound && *own_.bound != *bound) own_.refuse("splines have different bounds");
    own_.bound = bound;
  }

  PiperWeights own_;
  std::set<const OnnxTensor*> taken_;
};

}  // namespace

void PiperWeights::refuse(const std::string& what) const {
  fail("{} is not understood as a voice of Piper: {}", model->where, what);
}

const OnnxTensor* PiperWeights::initializer(const OnnxNode& node, size_t input) const {
  if (input >= node.inputs.size()) return nullptr;
  const auto found = model->graph.initializers.find(node.inputs[input]);
  return found == model->graph.initializers.end() ? nullptr : &found->second;
}

const OnnxNode* PiperWeights::maker(const std::string& value) const {
  const auto found = makers.find(value);
  return found == makers.end() ? nullptr : found->second;
}

PiperWeights name_piper_weights(std::shared_ptr<const OnnxModel> model) {
  return PiperNamer(std::move(model)).run();
}

}  // namespace mote::convert
