// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/trace.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "host/base/bytes.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMaxTracedElements = 1u << 27;
/// Integers beyond are not exact as the numbers of a trace; what is larger stands for "no end".
constexpr double kExactIntegers = 1 << 24;
constexpr double kNoEnd = 1e15;

TracedKind traced_kind(OnnxType type) {
  switch (type) {
    case OnnxType::i32:
    case OnnxType::i64:
    case OnnxType::u8:
    case OnnxType::i8:
      return TracedKind::integer;
    case OnnxType::boolean:
      return TracedKind::boolean;
    default:
      return TracedKind::real;
  }
}

/// Weights are atoms; single numbers, ids, shapes and masks are known.
bool is_known(const OnnxTensor& tensor) {
  if (tensor.dims.empty()) return true;
  if (tensor.type == OnnxType::u8 || tensor.type == OnnxType::i8) return tensor.size() == 1;
  return traced_kind(tensor.type) != TracedKind::real;
}

class OnnxFollower {
 public:
  OnnxFollower(const OnnxGraph& graph, const std::string& where) {
    trace_.where = where;
    trace_.graph = &graph;
    for (const OnnxNode& node : graph.nodes) {
      if (node.op == "DequantizeLinear" && !node.inputs.empty()) dequantized_.insert(node.inputs[0]);
    }
  }

  OnnxTrace run(std::map<std::string, Traced> inputs) {
    for (const auto& [name, tensor] : trace_.graph->initializers)
      trace_.values[name] = constant(tensor, true);
    for (const OnnxInput& input : trace_.graph->inputs) {
      if (trace_.graph->initializers.count(input.name) != 0) continue;  // old files list them too
      const auto given = inputs.find(input.name);
      if (given == inputs.end()) fail("{}: the input {} is not supported", trace_.where, shown(input.name));
      if (given->second->whole >= 0) {
        trace_.atoms.push_back({nullptr, 0, {}, given->second->dims});
        auto rows = std::make_shared<TracedTensor>(*given->second);
        rows->whole = static_cast<int32_t>(trace_.atoms.size() - 1);
        trace_.values[input.name] = rows;
      } else {
        trace_.values[input.name] = given->second;
      }
    }
    for (const OnnxNode& node : trace_.graph->nodes) follow(node);
    return std::move(trace_);
  }

 private:
  Traced constant(const OnnxTensor& tensor, bool weights) {
    auto result = std::make_shared<TracedTensor>();
    result->kind = traced_kind(tensor.type);
    result->dims = tensor.dims;
    const bool is_bias =
        tensor.type == OnnxType::i32 && tensor.dims.size() == 1 && dequantized_.count(tensor.name) != 0;
    if (weights && (is_bias || !is_known(tensor))) {
      if (tensor.size() > UINT32_MAX) fail("{}: tensor {} is too large", trace_.where, shown(tensor.name));
      trace_.atoms.push_back({nullptr, 0, {}, tensor.dims, &tensor});
      result->whole = static_cast<int32_t>(trace_.atoms.size() - 1);
      return result;
    }
    if (tensor.size() > budget_) fail("{}: tensor {} is too large", trace_.where, shown(tensor.name));
    budget_ -= tensor.size();
    charge_bytes(tensor.size() * sizeof(TracedElement));
    for (uint64_t i = 0; i < tensor.size(); ++i) {
      const double value = tensor.value(i);
      if (result->kind == TracedKind::integer && std::abs(value) > kExactIntegers && std::abs(value) < kNoEnd)
        fail("{}: tensor {} holds {}, which is not supported", trace_.where, shown(tensor.name), value);
      result->elements.push_back(TracedElement::of(static_cast<float>(value)));
    }
    return result;
  }

  Traced constant_of(const OnnxStep& step) {
    const OnnxAttribute* value = step.node.find("value");
    if (value != nullptr && value->tensor != nullptr) {
      if (!value->tensor->external.empty()) step.refuse("its value is in another file");
      return constant(*value->tensor, value->tensor->size() > 64);
    }
    for (const OnnxAttribute& attribute : step.node.attributes) {
      std::vector<TracedElement> elements;
      if (attribute.name == "value_int")
        return step.make(TracedKind::integer, {}, {TracedElement::of(static_cast<float>(attribute.integer))});
      if (attribute.name == "value_float")
        return step.make(TracedKind::real, {}, {TracedElement::of(attribute.number)});
      for (const int64_t integer : attribute.integers)
        elements.push_back(TracedElement::of(static_cast<float>(integer)));
      for (const float number : attribute.numbers) elements.push_back(TracedElement::of(number));
      const TracedKind kind = attribute.name == "value_ints" ? TracedKind::integer : TracedKind::real;
      if (attribute.name == "value_ints" || attribute.name == "value_floats")
        return make_vector(step, kind, std::move(elements));
    }
    step.refuse("its value is of a kind that is not supported");
  }

  static Traced make_vector(const OnnxStep& step, TracedKind kind, std::vector<TracedElement> elements) {
    const std::vector<uint64_t> dims = {elements.size()};
    return step.make(kind, dims, std::move(elements));
  }

  /// The outputs of the branch that a known condition chooses. Its values join the graph's.
  std::vector<Traced> branch(const OnnxStep& step) {
    const std::optional<float> condition = trace_.scalar(step.input(0));
    if (!condition) step.refuse("its condition is not known without running the model");
    const OnnxAttribute* chosen = step.node.find(*condition != 0.0f ? "then_branch" : "else_branch");
    if (chosen == nullptr || chosen->graph == nullptr) step.refuse("the branch that it takes is missing");
    for (const auto& [name, tensor] : chosen->graph->initializers) {
      if (!trace_.values.emplace(name, constant(tensor, true)).second)
        step.refuse("its initializer {} is there already", shown(name));
    }
    for (const OnnxNode& node : chosen->graph->nodes) follow(node);
    std::vector<Traced> outputs;
    for (const std::string& name : chosen->graph->outputs) {
      const auto found = trace_.values.find(name);
      if (found == trace_.values.end()) step.refuse("no node makes its output {}", shown(name));
      outputs.push_back(found->second);
    }
    return outputs;
  }

  void follow(const OnnxNode& node) {
    OnnxStep step{trace_, node, {}, budget_};
    const bool chooses = node.op == "If" && node.domain.empty();
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.graph != nullptr && !chooses)
        step.refuse("operators with graphs of their own are not supported");
    }
    for (const std::string& name : node.inputs) {
      const auto found = trace_.values.find(name);
      if (!name.empty() && found == trace_.values.end())
        step.refuse("no node before it makes its input {}", shown(name));
      step.inputs.push_back(name.empty() ? nullptr : found->second);
    }
    std::vector<Traced> outputs;
    if (node.op == "Constant" && node.domain.empty()) {
      outputs = {constant_of(step)};
    } else if (chooses) {
      outputs = branch(step);
    } else if (!move_elements(step, outputs) && !compute_elements(step, outputs) &&
               !keep_opaque(step, outputs)) {
      step.refuse("the operator is not supported");
    }
    for (size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
      if (outputs[i]->dims.size() > 8) step.refuse("more than 8 dimensions");
      const auto known = trace_.values.find(node.outputs[i]);
      // The operator may give its output the name that a branch gave it.
      if (known != trace_.values.end() && !(chooses && known->second == outputs[i]))
        step.refuse("its output {} is there already", shown(node.outputs[i]));
      if (!node.outputs[i].empty()) trace_.values[node.outputs[i]] = outputs[i];
    }
  }

  OnnxTrace trace_;
  std::set<std::string> dequantized_;  // what DequantizeLinear makes reals of
  uint64_t budget_ = kMaxTracedElements;
};

}  // namespace

std::string describe_node(const std::string& where, const OnnxNode& node) {
  const std::string name = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs.front();
  return fmt::format("{}: node {} ({})", where, shown(name), shown(node.op));
}

uint64_t TracedTensor::size() const { return element_count(dims).value_or(UINT64_MAX); }

TracedElement TracedTensor::at(uint64_t index) const {
  if (whole < 0) return elements[index];
  if (transposed) index = index % dims[1] * dims[0] + index / dims[1];
  return {whole, static_cast<uint32_t>(index)};
}

std::vector<TracedElement> TracedTensor::all() const {
  std::vector<TracedElement> result;
  const uint64_t count = size();
  charge_bytes(count * sizeof(TracedElement));
  for (uint64_t i = 0; i < count; ++i) result.push_back(at(i));
  return result;
}

bool TracedTensor::is_numbers() const {
  charge_work(1 + elements.size() / 16);
  return whole < 0 && std::all_of(elements.begin(), elements.end(),
                                  [](const TracedElement& element) { return element.is_number(); });
}

const TracedAtom* OnnxTrace::atom(const Traced& tensor) const {
  return tensor == nullptr || tensor->whole < 0 || tensor->transposed
             ? nullptr
             : &atoms[static_cast<size_t>(tensor->whole)];
}

std::optional<float> OnnxTrace::number(TracedElement element) const {
  if (element.is_number()) return element.number();
  const TracedAtom& of = atoms[static_cast<size_t>(element.atom)];
  if (of.weight == nullptr || of.scale != nullptr) return std::nullopt;
  return static_cast<float>(of.weight->value(element.bits));
}

std::optional<float> OnnxTrace::scalar(const Traced& tensor) const {
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  return number(tensor->at(0));
}

const Traced& OnnxStep::input(size_t index) const {
  if (!has(index)) refuse("its input {} is missing", index);
  return inputs[index];
}

std::vector<int64_t> OnnxStep::integers(size_t index, const std::string& attribute) const {
  const OnnxAttribute* found = attribute.empty() ? nullptr : node.find(attribute);
  if (found != nullptr) return found->integers;
  std::vector<int64_t> result;
  const Traced& tensor = input(index);
  for (uint64_t i = 0; i < tensor->size(); ++i) {
    const auto value = tensor->whole >= 0 && tensor->size() > kMaxTracedElements
                           ? std::nullopt
                           : trace.number(tensor->at(i));
    if (!value || std::isnan(*value)) refuse("its input {} is not known without running the model", index);
    result.push_back(static_cast<int64_t>(std::clamp(static_cast<double>(*value), -kNoEnd, kNoEnd)));
  }
  return result;
}

int64_t OnnxStep::axis(int64_t value, size_t rank) const {
  const auto limit = static_cast<int64_t>(rank);
  if (value < -limit || value >= limit) refuse("axis {} of a tensor of {} dimensions", value, rank);
  return value < 0 ? value + limit : value;
}

std::vector<TracedElement> OnnxStep::reserve(const std::vector<uint64_t>& dims) const {
  const auto count = element_count(dims);
  if (!count || *count > budget) refuse("its output is too large to be followed");
  budget -= *count;
  charge_bytes(*count * sizeof(TracedElement));
  std::vector<TracedElement> elements;
  elements.reserve(*count);
  return elements;
}

Traced known_numbers(const std::vector<uint64_t>& dims, const std::vector<float>& numbers) {
  auto tensor = std::make_shared<TracedTensor>();
  tensor->kind = TracedKind::integer;
  tensor->dims = dims;
  for (const float number : numbers) tensor->elements.push_back(TracedElement::of(number));
  return tensor;
}

Traced OnnxStep::make(TracedKind kind, std::vector<uint64_t> dims,
                      std::vector<TracedElement> elements) const {
  if (element_count(dims) != elements.size())
    refuse("its output has {} elements, its shape [{}] others", elements.size(), fmt::join(dims, ", "));
  auto result = std::make_shared<TracedTensor>();
  result->kind = kind;
  result->dims = std::move(dims);
  bool whole = !elements.empty() && !elements[0].is_number() &&
               element_count(trace.atoms[static_cast<size_t>(elements[0].atom)].dims) == elements.size();
  for (size_t i = 0; i < elements.size() && whole; ++i)
    whole = elements[i].atom == elements[0].atom && elements[i].bits == i;
  if (whole) {
    result->whole = elements[0].atom;
  } else {
    result->elements = std::move(elements);
  }
  return result;
}

Traced OnnxStep::opaque(std::vector<uint64_t> dims, uint32_t output, TracedKind kind) const {
  const auto count = element_count(dims);
  if (!count || *count > UINT32_MAX) refuse("its output is too large to be followed");
  auto result = std::make_shared<TracedTensor>();
  result->kind = kind;
  result->dims = dims;
  result->whole = static_cast<int32_t>(trace.atoms.size());
  trace.atoms.push_back({&node, output, inputs, std::move(dims)});
  return result;
}

OnnxTrace trace_onnx(const OnnxGraph& graph, const std::string& where, std::map<std::string, Traced> inputs) {
  return OnnxFollower(graph, where).run(std::move(inputs));
}

}  // namespace mote::convert
