// SPDX-License-Identifier: Apache-2.0
#include "converter/tensor_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "converter/missing_tensor.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

[[noreturn]] void fail_shape(const std::string& name, const SourceTensor& tensor,
                             const std::string& expected) {
  fail("tensor {} has shape [{}], the config implies [{}]", name, fmt::join(tensor.shape, ", "), expected);
}

}  // namespace

bool TensorSet::has(const std::string& name) const { return find(name) != source_.tensors.end(); }

std::map<std::string, SourceTensor>::const_iterator TensorSet::find(const std::string& name) const {
  const auto found = source_.tensors.find(name);
  constexpr std::string_view kFused = ".in_proj.";
  const size_t at = name.rfind(kFused);
  if (found != source_.tensors.end() || at == std::string::npos) return found;
  std::string joined = name;
  joined[at + kFused.size() - 1] = '_';
  return source_.tensors.find(joined);
}

const SourceTensor& TensorSet::take(const std::string& name) {
  const auto found = find(name);
  if (found == source_.tensors.end()) fail("tensor {} is missing{}", name, asked_by(source_, name));
  taken_.insert(found->first);
  return found->second;
}

WeightPart TensorSet::matrix(const std::string& name, uint32_t rows, uint32_t cols, bool transposed) {
  const SourceTensor& tensor = take(name);
  transposed = transposed && !tensor.is_linear;
  const std::vector<uint64_t> expected = {transposed ? cols : rows, transposed ? rows : cols};
  if (!transposed && tensor.shape == std::vector<uint64_t>{rows, cols, 1}) {  // a convolution of one tap
    SourceTensor matrix = tensor;
    matrix.shape = expected;
    slices_.push_back(matrix);
    return {name, &slices_.back(), transposed, rows};
  }
  if (tensor.shape != expected) fail_shape(name, tensor, fmt::format("{}", fmt::join(expected, ", ")));
  return {name, &tensor, transposed, rows};
}

WeightPart TensorSet::slice(const std::string& name, uint32_t index, uint32_t count, uint32_t rows,
                            uint32_t cols, bool transposed) {
  const SourceTensor& tensor = take(name);
  const std::vector<uint64_t> expected = {count, transposed ? cols : rows, transposed ? rows : cols};
  if (tensor.shape != expected) fail_shape(name, tensor, fmt::format("{}", fmt::join(expected, ", ")));
  SourceTensor matrix = tensor;
  matrix.shape.erase(matrix.shape.begin());
  matrix.bytes = tensor.bytes / count;
  if (tensor.reader == nullptr) matrix.data = tensor.data + index * matrix.bytes;
  matrix.reader_row += index * matrix.rows();
  slices_.push_back(matrix);
  return {name, &slices_.back(), transposed, rows};
}

WeightPart TensorSet::rows(const std::string& name, uint32_t rows, uint32_t cols, uint32_t first,
                           uint32_t count, bool transposed) {
  const WeightPart whole = matrix(name, rows, cols, false);
  SourceTensor part = *whole.tensor;
  part.shape[0] = count;
  part.bytes = whole.tensor->bytes / rows * count;
  if (part.reader == nullptr) part.data = whole.tensor->data + whole.tensor->bytes / rows * first;
  part.reader_row += first;
  slices_.push_back(part);
  return {name, &slices_.back(), transposed, transposed ? cols : count};
}

WeightPart TensorSet::computed(const std::string& name, uint32_t rows, uint32_t cols,
                               const std::vector<float>& values) {
  charge_table({values.size()});
  values_.push_back(values);
  const auto* data = reinterpret_cast<const std::byte*>(values_.back().data());
  slices_.push_back({SourceType::f32, {rows, cols}, data, values.size() * sizeof(float)});
  return {name, &slices_.back(), false, rows};
}

WeightPart TensorSet::kernels(const std::string& name, uint32_t rows, const std::vector<uint64_t>& shape) {
  const SourceTensor& tensor = take(name);
  std::vector<uint64_t> expected = {rows};
  uint64_t cols = 1;
  for (const uint64_t side : shape) {
    expected.push_back(side);
    cols *= side;
  }
  if (tensor.shape != expected) fail_shape(name, tensor, fmt::format("{}", fmt::join(expected, ", ")));
  SourceTensor matrix = tensor;
  matrix.shape = {rows, cols};
  slices_.push_back(matrix);
  return {name, &slices_.back(), false, rows};
}

std::vector<float> TensorSet::vector(const std::string& name, uint32_t width) {
  const SourceTensor& tensor = take(name);
  if (tensor.rows() != 1 || tensor.cols() != width) fail_shape(name, tensor, std::to_string(width));
  return table(name, 1, width);
}

std::vector<float> TensorSet::table(const std::string& name, uint32_t rows, uint32_t cols) {
  const SourceTensor& tensor = take(name);
  if (tensor.rows() * tensor.cols() != uint64_t{rows} * cols ||
      (rows != 1 && (tensor.shape.empty() || tensor.shape[0] != rows))) {
    fail_shape(name, tensor, fmt::format("{}, {}", rows, cols));
  }
  std::vector<float> values(size_t{rows} * cols);
  for (uint64_t row = 0; row < tensor.rows(); ++row)
    read_row(tensor, row, std::span(values).subspan(row * tensor.cols(), tensor.cols()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) fail("tensor {} holds {} at {}", name, values[i], i);
  }
  return values;
}

void TensorSet::note_rounded_input(const std::string& name) {
  const auto found = find(name);
  if (found != source_.tensors.end()) with_rounded_inputs_.insert(found->first);
}

void TensorSet::finish(const std::vector<std::string>& ignored_ends,
                       const std::vector<std::string>& ignored_starts) const {
  for (const auto& [name, tensor] : source_.tensors) {
    if (tensor.input_rounding && taken_.count(name) != 0 && with_rounded_inputs_.count(name) == 0)
      fail(
          "tensor {} has a scale that its input is rounded by, which is not read where this architecture "
          "uses "
          "it; give the directory of the unquantized model",
          name);
    if (taken_.count(name) != 0 || tensor.rows() == 0 || tensor.cols() == 0) continue;
    const bool ignored =
        std::any_of(ignored_ends.begin(), ignored_ends.end(),
                    [&name = name](const std::string& end) { return name.ends_with(end); }) ||
        std::any_of(ignored_starts.begin(), ignored_starts.end(),
                    [&name = name](const std::string& start) { return name.starts_with(start); });
    if (!ignored) fail("tensor {} is not part of this architecture", name);
  }
}

}  // namespace mote::convert
