// SPDX-License-Identifier: Apache-2.0
//
// The operators that take or put single elements by known indices.
#include "converter/onnx/trace.h"

namespace mote::convert {

/// Elements chosen one by one along an axis.
Traced gather_elements(const OnnxStep& step) {
  const Traced &data = step.input(0), &chosen = step.input(1);
  const size_t rank = data->dims.size();
  const auto axis = static_cast<size_t>(step.axis(step.node.integer("axis", 0), rank));
  if (chosen->dims.size() != rank) step.refuse("its indices have another rank than its data");
  for (size_t i = 0; i < rank; ++i) {
    if (i != axis && chosen->dims[i] > data->dims[i]) step.refuse("its indices are of a larger shape");
  }
  const std::vector<int64_t> rows = step.integers(1);
  std::vector<TracedElement> elements = step.reserve(chosen->dims);
  const auto size = static_cast<int64_t>(data->dims[axis]);
  for (uint64_t i = 0; i < rows.size(); ++i) {
    const int64_t row = rows[i] < 0 ? rows[i] + size : rows[i];
    if (row < 0 || row >= size) step.refuse("index {} of {}", rows[i], size);
    uint64_t at = 0, rest = i, inner = 1;
    for (size_t d = rank; d-- > 0;) {
      const uint64_t own = d == axis ? static_cast<uint64_t>(row) : rest % chosen->dims[d];
      rest /= chosen->dims[d];
      at += own * inner;
      inner *= data->dims[d];
    }
    elements.push_back(data->at(at));
  }
  return step.make(data->kind, chosen->dims, std::move(elements));
}

/// A tensor in which parts, each by an index of its first dimensions, are others.
Traced scatter_rows(const OnnxStep& step) {
  const Traced &data = step.input(0), &where = step.input(1), &parts = step.input(2);
  const OnnxAttribute* reduction = step.node.find("reduction");
  if (reduction != nullptr && reduction->text != "none") step.refuse("its reduction is not supported");
  const size_t rank = data->dims.size();
  const uint64_t depth = where->dims.empty() ? 0 : where->dims.back();
  if (depth == 0 || depth > rank) step.refuse("its indices are not of its data");
  uint64_t inner = 1;
  for (size_t i = depth; i < rank; ++i) inner *= data->dims[i];
  const std::vector<int64_t> all = step.integers(1);
  const uint64_t count = all.size() / depth;
  if (data->size() == 0 || parts->size() != count * inner) step.refuse("its parts do not fit its indices");
  std::vector<TracedElement> elements = step.reserve(data->dims);
  for (uint64_t i = 0; i < data->size(); ++i) elements.push_back(data->at(i));
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = 0;
    for (size_t d = 0; d < depth; ++d) {
      const auto size = static_cast<int64_t>(data->dims[d]);
      const int64_t given = all[i * depth + d], index = given < 0 ? given + size : given;
      if (index < 0 || index >= size) step.refuse("index {} of {}", given, size);
      at = at * data->dims[d] + static_cast<uint64_t>(index);
    }
    for (uint64_t j = 0; j < inner; ++j) elements[at * inner + j] = parts->at(i * inner + j);
  }
  return step.make(data->kind, data->dims, std::move(elements));
}

}  // namespace mote::convert
