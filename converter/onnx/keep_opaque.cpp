// SPDX-License-Identifier: Apache-2.0
//
// The operators that compute with weights or rows: of their outputs the shape alone is followed.
#include <algorithm>
#include <set>
#include <utility>

#include "converter/onnx/trace.h"
#include "host/base/bytes.h"

namespace mote::convert {
namespace {

using Dims = std::vector<uint64_t>;

/// Whole numbers of an attribute; `absent` where it is not given.
std::vector<int64_t> values_of(const OnnxNode& node, const char* key, std::vector<int64_t> absent = {}) {
  const OnnxAttribute* found = node.find(key);
  return found == nullptr ? std::move(absent) : found->integers;
}

Dims matmul_dims(const OnnxStep& step, bool transposes_b) {
  const Dims &a = step.input(0)->dims, &b = step.input(1)->dims;
  if (a.size() < 2 || b.size() < 2) step.refuse("a product of vectors is not supported");
  const size_t cols = b.size() - (transposes_b ? 2 : 1), depth = b.size() - (transposes_b ? 1 : 2);
  if (a.back() != b[depth]) step.refuse("it multiplies rows of {} by columns of {}", a.back(), b[depth]);
  Dims dims = broadcast(step, Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  dims.push_back(a[a.size() - 2]);
  dims.push_back(b[cols]);
  return dims;
}

Dims gemm_dims(const OnnxStep& step) {
  const Dims &a = step.input(0)->dims, &b = step.input(1)->dims;
  if (a.size() != 2 || b.size() != 2 || step.node.integer("transA", 0) != 0)
    step.refuse("only products of two matrices, the first as it is, are supported");
  const size_t turned = step.node.integer("transB", 0) != 0 ? 1 : 0;
  if (a[1] != b[turned]) step.refuse("it multiplies rows of {} by columns of {}", a[1], b[turned]);
  return {a[0], b[1 - turned]};
}

/// Over time: [batch, channels, rows].
Dims time_conv_dims(const OnnxStep& step) {
  const Dims &in = step.input(0)->dims, &kernel = step.input(1)->dims;
  const auto pair_of = [&](const char* key, int64_t fallback, size_t count) {
    std::vector<int64_t> values = values_of(step.node, key, std::vector<int64_t>(count, fallback));
    for (const int64_t value : values) {
      if (value < 0 || value > 1 << 20) step.refuse("{} is {}", key, value);
    }
    if (values.size() != count) step.refuse("{} {} for one dimension", values.size(), key);
    return values;
  };
  const OnnxAttribute* pad = step.node.find("auto_pad");
  const std::vector<int64_t> pads = pair_of("pads", 0, 2), strides = pair_of("strides", 1, 1);
  const uint64_t padded = in[2] + static_cast<uint64_t>(pads[0] + pads[1]);
  if (kernel.size() != 3 || in[1] != kernel[1] || kernel[2] == 0 || padded < kernel[2] || strides[0] == 0 ||
      step.node.integer("group", 1) != 1 || pair_of("dilations", 1, 1)[0] != 1 ||
      (pad != nullptr && pad->text != "NOTSET"))
    step.refuse("only convolutions over time without groups and dilations are supported");
  return {in[0], kernel[0], (padded - kernel[2]) / static_cast<uint64_t>(strides[0]) + 1};
}

/// Returns the dimensions of a convolution of patches that lie side by side: the kernel's shape is the
/// stride, there is no padding.
Dims conv_dims(const OnnxStep& step) {
  const Dims &in = step.input(0)->dims, &kernel = step.input(1)->dims;
  if (in.size() == 3) return time_conv_dims(step);
  if (in.size() != 4 || kernel.size() != 4 || in[1] != kernel[1] || step.node.integer("group", 1) != 1)
    step.refuse("only convolutions of pictures in patches are supported");
  const auto all = [&](const char* key, int64_t value) {
    const std::vector<int64_t> values = values_of(step.node, key);
    return std::all_of(values.begin(), values.end(), [&](int64_t one) { return one == value; });
  };
  const OnnxAttribute* pad = step.node.find("auto_pad");
  const std::vector<int64_t> side = {static_cast<int64_t>(kernel[2]), static_cast<int64_t>(kernel[3])};
  if (values_of(step.node, "strides") != side || kernel[2] == 0 || kernel[3] == 0 || !all("pads", 0) ||
      !all("dilations", 1) || (pad != nullptr && pad->text != "NOTSET" && pad->text != "VALID"))
    step.refuse("only convolutions of pictures in patches are supported");
  return {in[0], kernel[0], in[2] / kernel[2], in[3] / kernel[3]};
}

Dims mean_dims(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const std::vector<int64_t> axes = step.integers(1, "axes");
  if (axes.size() != 1 ||
      step.axis(axes[0], source->dims.size()) + 1 != static_cast<int64_t>(source->dims.size()) ||
      step.node.integer("keepdims", 1) == 0)
    step.refuse("only means of rows are supported");
  Dims dims = source->dims;
  dims.back() = 1;
  return dims;
}

/// Returns the dimensions of a sum or a length over one axis.
Dims folded(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const std::vector<int64_t> axes = step.integers(1, "axes");
  if (axes.size() != 1) step.refuse("only sums over one axis are supported");
  Dims dims = source->dims;
  const auto axis = static_cast<size_t>(step.axis(axes[0], dims.size()));
  dims[axis] = 1;
  if (step.node.integer("keepdims", 1) == 0) dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return dims;
}

/// Element by element, of one input or several.
const std::set<std::string>& elementwise() {
  static const std::set<std::string> kOps = {
      "Add",     "Sub", "Mul",  "Div",   "Pow",   "Sqrt",    "Neg",        "Erf", "Tanh", "Relu",
      "Sigmoid", "Exp", "Gelu", "Where", "IsNaN", "Softmax", "Reciprocal", "Min", "Max"};
  return kOps;
}

/// A weight in integers becomes one in reals, moved as it is.
Traced dequantize_weight(const OnnxStep& step) {
  const Traced& source = step.input(0);
  if (source->size() == 0 || source->at(0).is_number()) return nullptr;
  const int32_t of = source->at(0).atom;
  const TracedAtom integers = step.trace.atoms[static_cast<size_t>(of)];
  if (integers.weight == nullptr || integers.scale != nullptr) return nullptr;
  const bool whole = source->whole >= 0;
  if (!whole && step.input(1)->size() != 1) step.refuse("parts of a weight have more than one scale");
  std::vector<TracedElement> elements = whole ? std::vector<TracedElement>{} : step.reserve(source->dims);
  const auto made = static_cast<int32_t>(step.trace.atoms.size());
  for (uint64_t i = 0; i < source->size() && !whole; ++i) {
    const TracedElement element = source->at(i);
    if (element.atom != of) step.refuse("its input is of more than one weight");
    elements.push_back({made, element.bits});
  }
  const int64_t axis = step.node.integer("axis", 1);
  const auto rank = static_cast<int64_t>(source->dims.size());
  step.trace.atoms.push_back({nullptr,
                              0,
                              {},
                              integers.dims,
                              integers.weight,
                              step.input(1),
                              step.has(2) ? step.input(2) : nullptr,
                              axis < 0 ? axis + rank : axis});
  if (!whole) return step.make(TracedKind::real, source->dims, std::move(elements));
  auto result = std::make_shared<TracedTensor>(*source);
  result->kind = TracedKind::real;
  result->whole = made;
  return result;
}

/// Returns whether both are the same known number. An absent one is 0, as a zero point is.
bool same_numbers(const OnnxTrace& trace, const Traced& a, const Traced& b) {
  if (a == b) return true;
  const auto number = [&](const Traced& tensor) {
    return tensor == nullptr ? std::optional<float>(0.0f) : trace.scalar(tensor);
  };
  const std::optional<float> x = number(a), y = number(b);
  return x && y && *x == *y;
}

/// Returns the activations that a QuantizeLinear rounded with the same scale and zero point, moved as its
/// integers were moved since; null where the input is of no such QuantizeLinear. mote rounds activations in
/// its own way.
Traced unrounded(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const auto rounded = [&](const TracedElement& element) -> const TracedAtom* {
    if (element.is_number()) return nullptr;
    const TracedAtom& atom = step.trace.atoms[static_cast<size_t>(element.atom)];
    const bool is = atom.node != nullptr && atom.node->op == "QuantizeLinear" && atom.node->domain.empty() &&
                    same_numbers(step.trace, atom.inputs[1], step.input(1)) &&
                    same_numbers(step.trace, atom.inputs.size() > 2 ? atom.inputs[2] : nullptr,
                                 step.has(2) ? step.input(2) : nullptr);
    return is ? &atom : nullptr;
  };
  if (source->size() == 0) return nullptr;
  if (source->whole >= 0) {
    const TracedAtom* atom = rounded(source->at(0));
    if (atom == nullptr) return nullptr;
    if (source->dims == atom->inputs[0]->dims && !source->transposed) return atom->inputs[0];
  }
  std::vector<TracedElement> elements = step.reserve(source->dims);
  for (uint64_t i = 0; i < source->size(); ++i) {
    const TracedElement element = source->at(i);
    const TracedAtom* atom = rounded(element);
    if (atom == nullptr) return nullptr;
    elements.push_back(atom->inputs[0]->at(element.bits));
  }
  return step.make(TracedKind::real, source->dims, std::move(elements));
}

/// Integers that are known, as reals.
Traced dequantize_numbers(const OnnxStep& step) {
  const Traced& source = step.input(0);
  const std::optional<float> scale = step.trace.scalar(step.input(1));
  const std::optional<float> zero = step.has(2) ? step.trace.scalar(step.input(2)) : 0.0f;
  if (!source->is_numbers() || !scale || !zero) return nullptr;
  std::vector<TracedElement> elements = step.reserve(source->dims);
  for (const TracedElement& element : source->elements)
    elements.push_back(TracedElement::of((element.number() - *zero) * *scale));
  return step.make(TracedKind::real, source->dims, std::move(elements));
}

Traced dequantize(const OnnxStep& step) {
  if (Traced weight = dequantize_weight(step)) return weight;
  if (Traced numbers = dequantize_numbers(step)) return numbers;
  if (Traced rows = unrounded(step)) {
    step.trace.rounds = true;
    return rows;
  }
  return step.opaque(step.input(0)->dims);
}

}  // namespace

bool keep_opaque(const OnnxStep& step, std::vector<Traced>& outputs) {
  const std::string& op = step.node.op;
  const bool own = step.node.domain.empty();
  if (own && elementwise().count(op) != 0) {
    const bool is_binary = op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow";
    if (step.inputs.size() < (is_binary ? 2u : op == "Where" ? 3u : 1u)) step.refuse("inputs are missing");
    Dims dims = step.input(0)->dims;
    for (size_t i = 1; i < step.inputs.size(); ++i) dims = broadcast(step, dims, step.input(i)->dims);
    outputs = {step.opaque(dims, 0, op == "IsNaN" ? TracedKind::boolean : TracedKind::real)};
  } else if (own && (op == "MatMul" || op == "MatMulInteger")) {
    outputs = {
        step.opaque(matmul_dims(step, false), 0, op == "MatMul" ? TracedKind::real : TracedKind::integer)};
  } else if (own && op == "Gemm") {
    outputs = {step.opaque(gemm_dims(step))};
  } else if (own && (op == "Conv" || op == "ConvInteger")) {
    outputs = {step.opaque(conv_dims(step), 0, op == "Conv" ? TracedKind::real : TracedKind::integer)};
  } else if (own && op == "ReduceMean") {
    outputs = {step.opaque(mean_dims(step))};
  } else if (own && (op == "ReduceSum" || op == "ReduceL2")) {
    outputs = {step.opaque(folded(step))};
  } else if (own && (op == "LayerNormalization" || op == "LpNormalization" || op == "Clip")) {
    outputs = {step.opaque(step.input(0)->dims)};
  } else if (own && op == "DynamicQuantizeLinear") {
    outputs = {step.opaque(step.input(0)->dims, 0, TracedKind::integer), step.opaque({}, 1),
               step.opaque({}, 2, TracedKind::integer)};
  } else if (own && op == "QuantizeLinear") {
    step.input(1);  // its scale is there
    outputs = {step.opaque(step.input(0)->dims, 0, TracedKind::integer)};
  } else if (own && op == "DequantizeLinear") {
    outputs = {dequantize(step)};
  } else {
    return false;
  }
  return true;
}

}  // namespace mote::convert
