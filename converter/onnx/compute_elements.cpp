// SPDX-License-Identifier: Apache-2.0
//
// The operators that compute where all they read is known: shapes, ids, masks, positions.
#include <algorithm>
#include <cmath>
#include <functional>

#include "converter/onnx/trace.h"
#include "host/base/bytes.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

using Binary = double (*)(double, double);

const std::map<std::string, Binary>& arithmetic_ops() {
  static const std::map<std::string, Binary> kOps = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }}};
  return kOps;
}

const std::map<std::string, Binary>& comparisons() {
  static const std::map<std::string, Binary> kOps = {
      {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }}};
  return kOps;
}

using Unary = double (*)(double);

const std::map<std::string, Unary>& functions() {
  static const std::map<std::string, Unary> kOps = {
      {"Neg", [](double a) { return -a; }},
      {"Abs", [](double a) { return std::abs(a); }},
      {"Sqrt", [](double a) { return std::sqrt(a); }},
      {"Reciprocal", [](double a) { return 1.0 / a; }},
      {"Log", [](double a) { return std::log(a); }},
      {"Floor", [](double a) { return std::floor(a); }},
      {"Ceil", [](double a) { return std::ceil(a); }},
      {"Not", [](double a) { return a == 0 ? 1.0 : 0.0; }},
      {"IsNaN", [](double a) { return std::isnan(a) ? 1.0 : 0.0; }}};
  return kOps;
}

/// A tensor's numbers; a weight of one element is a number too.
std::optional<std::vector<double>> numbers_of(const OnnxStep& step, const Traced& tensor) {
  std::vector<double> result;
  if (!tensor->is_numbers()) {
    const std::optional<float> one = step.trace.scalar(tensor);
    if (!one) return std::nullopt;
    return std::vector<double>{*one};
  }
  charge_bytes(tensor->size() * sizeof(double));
  for (const TracedElement& element : tensor->elements) result.push_back(element.number());
  return result;
}

TracedElement rounded_element(const OnnxStep& step, TracedKind kind, double value) {
  if (kind == TracedKind::integer) {
    if (!std::isfinite(value)) step.refuse("it divides by 0");
    value = std::trunc(value);
    constexpr double kExact = 1 << 24, kNoEnd = 1e15;  // as in trace.cpp
    if (std::abs(value) > kExact && std::abs(value) < kNoEnd) step.refuse("{} is too large a number", value);
  }
  return TracedElement::of(static_cast<float>(value));
}

bool binary(const OnnxStep& step, Binary op, TracedKind kind, std::vector<Traced>& outputs) {
  const Traced &a = step.input(0), &b = step.input(1);
  const auto x = numbers_of(step, a), y = numbers_of(step, b);
  if (!x || !y) return false;
  const std::vector<uint64_t> dims = broadcast(step, a->dims, b->dims);
  std::vector<TracedElement> elements = step.reserve(dims);
  const uint64_t count = *element_count(dims);
  for (uint64_t i = 0; i < count; ++i) {
    const double value = op((*x)[broadcast_index(i, dims, a->dims)], (*y)[broadcast_index(i, dims, b->dims)]);
    elements.push_back(rounded_element(step, kind, value));
  }
  outputs = {step.make(kind, dims, std::move(elements))};
  return true;
}

bool unary(const OnnxStep& step, Unary op, TracedKind kind, std::vector<Traced>& outputs) {
  const Traced& source = step.input(0);
  if (!source->is_numbers()) return false;
  std::vector<TracedElement> elements = step.reserve(source->dims);
  for (const TracedElement& element : source->elements)
    elements.push_back(rounded_element(step, kind, op(element.number())));
  outputs = {step.make(kind, source->dims, std::move(elements))};
  return true;
}

constexpr double kFarthest = 2e15;  // stands for no end

/// Between floats it changes nothing: a graph in half precision is computed in f32.
Traced cast(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const auto to = static_cast<OnnxType>(step.node.integer("to", 0));
  const bool real = to == OnnxType::f32 || to == OnnxType::f16 || to == OnnxType::bf16 || to == OnnxType::f64;
  const TracedKind kind = real                      ? TracedKind::real
                          : to == OnnxType::boolean ? TracedKind::boolean
                                                    : TracedKind::integer;
  if (!source->is_numbers()) {
    const TracedAtom* atom = step.trace.atom(source);
    const bool sums = atom != nullptr && atom->node != nullptr &&
                      (atom->node->op == "MatMulInteger" || atom->node->op == "ConvInteger");
    if (real && (source->kind == TracedKind::real || sums)) return source;
  }
  std::vector<TracedElement> elements = step.reserve(source->dims);
  for (uint64_t i = 0; i < source->size(); ++i) {
    const std::optional<float> value = step.trace.number(source->at(i));
    if (!value) step.refuse("a cast of {} is not supported", "what the model computes");
    double number = kind == TracedKind::boolean ? static_cast<double>(*value != 0.0f) : *value;
    // A logarithm of 0, which a choice leaves out later.
    if (kind == TracedKind::integer && std::isinf(number)) number = std::copysign(kFarthest, number);
    elements.push_back(rounded_element(step, kind, number));
  }
  return step.make(kind, source->dims, std::move(elements));
}

Traced range(const OnnxStep& step) {
  double ends[3];
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<float> end = step.trace.scalar(step.input(i));
    if (!end) step.refuse("its ends are not known without running the model");
    ends[i] = *end;
  }
  const double count = std::ceil((ends[1] - ends[0]) / ends[2]);
  if (!(std::abs(count) < 1e9)) step.refuse("a range of {} numbers", count);
  const std::vector<uint64_t> dims = {static_cast<uint64_t>(std::max(count, 0.0))};
  std::vector<TracedElement> elements = step.reserve(dims);
  for (uint64_t i = 0; i < dims[0]; ++i)
    elements.push_back(TracedElement::of(static_cast<float>(ends[0] + static_cast<double>(i) * ends[2])));
  return step.make(step.input(0)->kind, dims, std::move(elements));
}

Traced constant_of_shape(const OnnxStep& step) {
  std::vector<uint64_t> dims;
  for (const int64_t dim : step.integers(0)) dims.push_back(static_cast<uint64_t>(std::max<int64_t>(dim, 0)));
  const OnnxAttribute* given = step.node.find("value");
  const OnnxTensor* tensor = given == nullptr ? nullptr : given->tensor;
  if (tensor != nullptr && (tensor->size() != 1 || !tensor->external.empty()))
    step.refuse("its value is not one number");
  const float value = tensor == nullptr ? 0.0f : static_cast<float>(tensor->value(0));
  TracedKind kind = TracedKind::real;
  if (tensor != nullptr && (tensor->type == OnnxType::i64 || tensor->type == OnnxType::i32))
    kind = TracedKind::integer;
  if (tensor != nullptr && tensor->type == OnnxType::boolean) kind = TracedKind::boolean;
  std::vector<TracedElement> elements = step.reserve(dims);
  elements.assign(*element_count(dims), TracedElement::of(value));
  return step.make(kind, dims, std::move(elements));
}

/// Along one axis of known numbers: each element becomes the sum so far.
bool running_sum(const OnnxStep& step, int64_t given_axis, std::vector<Traced>& outputs) {
  const Traced& source = step.input(0);
  if (!source->is_numbers()) return false;
  const auto axis = static_cast<size_t>(step.axis(given_axis, source->dims.size()));
  std::vector<TracedElement> elements = step.reserve(source->dims);
  uint64_t inner = 1;  // with elements, no product of dimensions overflows
  for (size_t i = axis + 1; i < source->dims.size() && source->size() != 0; ++i) inner *= source->dims[i];
  std::vector<double> sums(source->size());
  for (uint64_t i = 0; i < sums.size(); ++i) {
    const bool first = i / inner % source->dims[axis] == 0;
    sums[i] = (first ? 0.0 : sums[i - inner]) + source->elements[i].number();
    elements.push_back(rounded_element(step, source->kind, sums[i]));
  }
  outputs = {step.make(source->kind, source->dims, std::move(elements))};
  return true;
}

/// The dimensions that a reduction folds: those of its axes, and all where it has none.
std::vector<bool> folded_dims(const OnnxStep& step, size_t rank) {
  const bool given = step.has(1) || step.node.find("axes") != nullptr;
  const std::vector<int64_t> axes = given ? step.integers(1, "axes") : std::vector<int64_t>{};
  const bool all = axes.empty() && step.node.integer("noop_with_empty_axes", 0) == 0;
  std::vector<bool> folded(rank, all);
  for (const int64_t axis : axes) folded[static_cast<size_t>(step.axis(axis, rank))] = true;
  return folded;
}

/// Folds known numbers over axes. The fold of no elements is `start`.
bool fold(const OnnxStep& step, Binary op, double start, std::vector<Traced>& outputs) {
  const Traced& source = step.input(0);
  if (!source->is_numbers()) return false;
  const std::vector<bool> folded = folded_dims(step, source->dims.size());
  const bool keeps = step.node.integer("keepdims", 1) != 0;
  std::vector<uint64_t> kept = source->dims, dims;  // `kept`: with 1 for each that is folded
  for (size_t i = 0; i < kept.size(); ++i) {
    if (folded[i]) kept[i] = 1;
    if (!folded[i] || keeps) dims.push_back(kept[i]);
  }
  std::vector<TracedElement> elements = step.reserve(kept);
  std::vector<double> sums(*element_count(kept), start);
  for (uint64_t i = 0; i < source->size(); ++i) {
    double& sum = sums[broadcast_index(i, source->dims, kept)];
    sum = op(sum, source->elements[i].number());
  }
  for (const double sum : sums) elements.push_back(rounded_element(step, source->kind, sum));
  outputs = {step.make(source->kind, dims, std::move(elements))};
  return true;
}

/// Known numbers between two ends, of which either may be left out.
bool clip(const OnnxStep& step, std::vector<Traced>& outputs) {
  const Traced& source = step.input(0);
  if (!source->is_numbers()) return false;
  double ends[2] = {-INFINITY, INFINITY};
  for (size_t i = 0; i < 2; ++i) {
    const OnnxAttribute* older = step.node.find(i == 0 ? "min" : "max");
    if (older != nullptr) ends[i] = older->number;
    if (!step.has(1 + i)) continue;
    const std::optional<float> end = step.trace.scalar(step.input(1 + i));
    if (!end) step.refuse("its ends are not known without running the model");
    ends[i] = *end;
  }
  std::vector<TracedElement> elements = step.reserve(source->dims);
  for (const TracedElement& element : source->elements) {
    const double value = std::min(std::max(double{element.number()}, ends[0]), ends[1]);
    elements.push_back(rounded_element(step, source->kind, value));
  }
  outputs = {step.make(source->kind, source->dims, std::move(elements))};
  return true;
}

}  // namespace

bool compute_elements(const OnnxStep& step, std::vector<Traced>& outputs) {
  const std::string& op = step.node.op;
  if (!step.node.domain.empty()) return false;
  if (const auto found = arithmetic_ops().find(op);
      found != arithmetic_ops().end() && step.inputs.size() == 2)
    return binary(step, found->second, step.input(0)->kind, outputs);
  if (const auto found = comparisons().find(op); found != comparisons().end())
    return binary(step, found->second, TracedKind::boolean, outputs);
  if (const auto found = functions().find(op); found != functions().end()) {
    const bool truth = op == "Not" || op == "IsNaN";
    return unary(step, found->second, truth ? TracedKind::boolean : step.input(0)->kind, outputs);
  }
  if (op == "Cast") return outputs = {cast(step)}, true;
  if (op == "Range") return outputs = {range(step)}, true;
  if (op == "ConstantOfShape") return outputs = {constant_of_shape(step)}, true;
  if (op == "CumSum") {
    if (step.node.integer("exclusive", 0) != 0 || step.node.integer("reverse", 0) != 0)
      step.refuse("exclusive or reversed sums are not supported");
    const std::vector<int64_t> axis = step.integers(1);
    return !axis.empty() && running_sum(step, axis[0], outputs);
  }
  if (op == "Clip") return clip(step, outputs);
  if (op == "GatherElements") return outputs = {gather_elements(step)}, true;
  if (op == "ScatterND") return outputs = {scatter_rows(step)}, true;
  if (op == "ReduceSum") return fold(step, arithmetic_ops().at("Add"), 0.0, outputs);
  if (op == "ReduceProd") return fold(step, arithmetic_ops().at("Mul"), 1.0, outputs);
  return false;
}

}  // namespace mote::convert
