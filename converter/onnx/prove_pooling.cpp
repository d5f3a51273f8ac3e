// SPDX-License-Identifier: Apache-2.0
//
// Proves the part of a graph behind the last hidden states where the graph makes a text's vector itself: a
// pooling, and perhaps a division by the length.
#include <algorithm>
#include <cmath>

#include "converter/onnx/proof.h"
#include "host/base/bytes.h"

namespace mote::convert {
namespace {

constexpr float kMostEps = 1e-5f;  // what keeps a length or a count from 0

}  // namespace

/// The atom of which the element `index` is the element `index / width`; null for any other tensor.
const TracedAtom* OnnxProof::spread_atom(const Traced& tensor, uint64_t width) {
  const uint64_t rows = sample_.batch;
  const TracedAtom* found = nullptr;
  for (uint64_t i = 0; i < rows * width; ++i) {
    const TracedElement element = tensor->at(broadcast_index(i, {rows, width}, tensor->dims));
    if (element.is_number() || element.bits != i / width) return nullptr;
    const TracedAtom* of = &trace_.atoms[static_cast<size_t>(element.atom)];
    if (found != nullptr && of != found) return nullptr;
    found = of;
  }
  return found;
}

/// x of x / max(|x|, eps), or null.
Traced OnnxProof::unnormalized(const Traced& tensor) {
  if (const TracedAtom* direct = node(tensor, "LpNormalization")) {
    const int64_t axis = direct->node->integer("axis", -1);
    return direct->node->integer("p", 2) == 2 && (axis == -1 || axis == 1) ? direct->inputs[0] : nullptr;
  }
  const TracedAtom* quotient = node(tensor, "Div");
  if (quotient == nullptr || tensor->dims != std::vector<uint64_t>{sample_.batch, spec_.width})
    return nullptr;
  const Traced x = quotient->inputs[0];
  const TracedAtom* bound = spread_atom(quotient->inputs[1], spec_.width);
  if (bound == nullptr || bound->node == nullptr || (bound->node->op != "Clip" && bound->node->op != "Max") ||
      bound->inputs.size() < 2)
    return nullptr;
  const size_t length_at = bound->node->op == "Max" && trace_.scalar(bound->inputs[0]) ? 1 : 0;
  const std::optional<float> eps = trace_.scalar(bound->inputs[1 - length_at]);
  const bool has_most = bound->node->op == "Clip" && bound->inputs.size() > 2 && bound->inputs[2] != nullptr;
  if (!eps || !(*eps >= 0.0f && *eps <= kMostEps) || has_most) return nullptr;
  const TracedAtom* length = atom(bound->inputs[length_at]);
  if (length == nullptr || length->node == nullptr) return nullptr;
  if (length->node->op == "ReduceL2") return is_same(length->inputs[0], x) ? x : nullptr;
  if (length->node->op != "Sqrt") return nullptr;
  const TracedAtom* sum = node(length->inputs[0], "ReduceSum");
  const TracedAtom* square = sum == nullptr ? nullptr : atom(sum->inputs[0]);
  if (square == nullptr || square->node == nullptr) return nullptr;
  const bool is_power = square->node->op == "Pow" && trace_.scalar(square->inputs[1]) == 2.0f;
  const bool is_product = square->node->op == "Mul" && is_same(square->inputs[0], square->inputs[1]);
  return (is_power || is_product) && is_same(square->inputs[0], x) ? x : nullptr;
}

/// The rows whose mean over those that the mask keeps the tensor is, or null.
Traced OnnxProof::rows_of_mean(const Traced& tensor) {
  const uint64_t rows = sample_.length, width = spec_.width;
  const TracedAtom* quotient = node(tensor, "Div");
  if (quotient == nullptr || tensor->dims != std::vector<uint64_t>{sample_.batch, width}) return nullptr;
  const Traced counts = quotient->inputs[1];
  const TracedAtom* sum = node(quotient->inputs[0], "ReduceSum");
  const TracedAtom* product = sum == nullptr ? nullptr : node(sum->inputs[0], "Mul");
  if (product == nullptr || !counts->is_numbers()) return nullptr;
  const size_t of_mask = product->inputs[1]->is_numbers() ? 1 : 0;
  const Traced mask = product->inputs[of_mask], hidden = product->inputs[1 - of_mask];
  const std::vector<uint64_t> dims = {sample_.batch, rows, width};
  if (!mask->is_numbers() || hidden->dims != dims || product->dims != dims) return nullptr;
  for (uint64_t i = 0; i < sample_.batch * rows * width; ++i) {
    const uint64_t batch = i / (rows * width), row = i / width % rows;
    if (mask->at(broadcast_index(i, dims, mask->dims)).number() !=
        (sample_.is_kept(batch, row) ? 1.0f : 0.0f))
      return nullptr;
  }
  for (uint64_t i = 0; i < sample_.batch * width; ++i) {
    float kept = 0.0f;
    for (uint64_t row = 0; row < rows; ++row) kept += sample_.is_kept(i / width, row) ? 1.0f : 0.0f;
    const float count = counts->at(broadcast_index(i, {sample_.batch, width}, counts->dims)).number();
    if (std::abs(count - kept) > kMostEps) return nullptr;
  }
  return hidden;
}

/// The rows of which the tensor is the first of each text, or null.
Traced OnnxProof::rows_of_first(const Traced& tensor) {
  const uint64_t width = spec_.width, rows = sample_.length;
  if (tensor->whole >= 0 || tensor->elements.empty() || tensor->elements[0].is_number()) return nullptr;
  const int32_t of = tensor->elements[0].atom;
  if (trace_.atoms[static_cast<size_t>(of)].dims != std::vector<uint64_t>{sample_.batch, rows, width})
    return nullptr;
  for (uint64_t i = 0; i < tensor->elements.size(); ++i) {
    if (tensor->elements[i] != TracedElement{of, static_cast<uint32_t>(i / width * rows * width + i % width)})
      return nullptr;
  }
  return whole(of);
}

/// The last hidden states that a text's vector is made of; null: it is made in another way.
Traced OnnxProof::unpooled(const Traced& vector) {
  pooling_.reset();
  SentencePooling found;
  Traced pooled = vector;
  if (const Traced x = unnormalized(vector)) {
    found.normalize = true;
    pooled = x;
  }
  Traced hidden = rows_of_mean(pooled);
  if (hidden == nullptr) {
    hidden = rows_of_first(pooled);
    found.kind = PoolKind::first;
  }
  if (hidden != nullptr) pooling_ = found;
  return hidden;
}

/// The hidden states behind the output that is a vector for each text, where the graph has one.
Traced OnnxProof::hidden_of_vectors() {
  const OutputKind kind = spec_.head.kind;
  if ((kind != OutputKind::hidden && kind != OutputKind::embedding) || spec_.picture.format.height != 0 ||
      spec_.conv_stem != nullptr || !spec_.head.dense.name.empty())
    return nullptr;
  bool has_rows = false;
  for (const std::string& name : model_->graph.outputs) {
    const auto found = trace_.values.find(name);
    has_rows = has_rows || (found != trace_.values.end() && found->second->dims.size() == 3);
  }
  for (const std::string& name : model_->graph.outputs) {
    const auto found = trace_.values.find(name);
    if (found == trace_.values.end() || found->second->is_numbers() ||
        found->second->dims != std::vector<uint64_t>{sample_.batch, spec_.width})
      continue;
    const bool is_pooler = node(found->second, "Tanh") != nullptr;
    if (is_pooler) continue;
    if (const Traced hidden = unpooled(found->second)) return hidden;
    if (!has_rows || (name == "sentence_embedding" && !source_.pooling))
      refuse("the output {} is a vector for each text, made in another way than by the mean or the first row",
             shown(name));
  }
  return nullptr;
}

}  // namespace mote::convert
