// SPDX-License-Identifier: Apache-2.0
//
// Numbers of CTranslate2's variables: attributes, and weights with the scales that belong to them.
#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstring>

#include "converter/readers/ctranslate2.h"
#include "converter/readers/packed_rows.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

/// Values that were computed at once.
struct ValueRows : RowReader {
  std::vector<float> values;
  void read(uint64_t row, std::span<float> out) const override {
    std::memcpy(out.data(), values.data() + row * out.size(), out.size_bytes());
  }
};

/// Rows with rows of zeros around them.
struct PaddedRows : RowReader {
  SourceTensor inner;
  uint64_t before = 0;

  bool is_inner(uint64_t row) const { return row >= before && row - before < inner.rows(); }
  void read(uint64_t row, std::span<float> out) const override {
    if (is_inner(row)) return read_row(inner, row - before, out);
    std::fill(out.begin(), out.end(), 0.0f);
  }
  bool has_exact() const override { return inner.reader != nullptr && inner.reader->has_exact(); }
  void read_exact(uint64_t row, QuantRow& out) const override {
    if (is_inner(row)) return read_exact_row(inner, row - before, out);
    out = {};
    out.q.resize(inner.cols());
    out.row_scale = 1.0f;
  }
};

/// Returns the type of a variable that is of no integers.
SourceType float_type(Ct2Type type) {
  if (type == Ct2Type::f16) return SourceType::f16;
  return type == Ct2Type::bf16 ? SourceType::bf16 : SourceType::f32;
}

double scalar_of(const Ct2Variable& variable) {
  const std::byte* data = variable.bytes.data();
  if (variable.type == Ct2Type::i8) return load<int8_t>(data);
  if (variable.type == Ct2Type::i16) return load<int16_t>(data);
  if (variable.type == Ct2Type::i32) return load<int32_t>(data);
  float value = 0;
  read_row({float_type(variable.type), {}, data, variable.bytes.size()}, 0, {&value, 1});
  return value;
}

std::vector<float> inverse_scales(const Ct2Variable& scale) {
  charge_bytes(scale.bytes.size());
  std::vector<float> scales(scale.bytes.size() / sizeof(float));
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = 1.0f / load<float>(scale.bytes.data() + i * sizeof(float));
  return scales;
}

bool all_finite(const std::vector<float>& values) {
  for (const float value : values)
    if (!std::isfinite(value)) return false;
  return true;
}

/// int8 [rows, columns], a scale for each row.
SourceTensor int8_tensor(const Ct2Variable& weight, std::vector<float> scales) {
  const uint64_t rows = weight.shape[0], columns = weight.shape[1];
  charge_bytes(rows * (sizeof(float) + sizeof(int16_t)));
  auto reader = std::make_shared<IntegerRows>(rows, columns, columns);
  reader->scales = std::move(scales);
  reader->zeros.assign(rows, 0);
  reader->least = -128;
  reader->most = 127;
  reader->prefers_row_scale = true;
  const std::byte* const data = weight.bytes.data();
  reader->integer = [data, columns](uint64_t row, uint64_t k) {
    return static_cast<int>(load<int8_t>(data + row * columns + k));
  };
  const SourceType type = reader->settle_type();
  return {type, weight.shape, nullptr, weight.bytes.size(), 0, 1.0f, std::move(reader)};
}

/// Integers of one scale, or of one for each first index.
SourceTensor scaled_values(const Ct2Variable& weight, const std::vector<float>& scales) {
  const uint64_t width = weight.type == Ct2Type::i8 ? 1 : 2, count = weight.bytes.size() / width;
  charge_bytes(count * sizeof(float));  // under each of its names
  const uint64_t each = count / scales.size();
  std::vector<float> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::byte* const at = weight.bytes.data() + i * width;
    const int integer = width == 1 ? int{load<int8_t>(at)} : int{load<int16_t>(at)};
    values[i] = static_cast<float>(integer) * scales[i / each];
  }
  return ct2_values(weight.shape, std::move(values));
}

}  // namespace

SourceTensor ct2_values(std::vector<uint64_t> shape, std::vector<float> values) {
  auto reader = std::make_shared<ValueRows>();
  const uint64_t bytes = values.size() * sizeof(float);
  reader->values = std::move(values);
  return {SourceType::f32, std::move(shape), nullptr, bytes, 0, 1.0f, std::move(reader)};
}

SourceTensor ct2_padded(const SourceTensor& rows, uint64_t before, uint64_t behind) {
  auto reader = std::make_shared<PaddedRows>();
  reader->inner = rows;
  reader->before = before;
  std::vector<uint64_t> shape = rows.shape;
  shape[0] += before + behind;
  const uint64_t bytes = rows.bytes / rows.shape[0] * shape[0];
  return {rows.type, std::move(shape), nullptr, bytes, 0, 1.0f, std::move(reader)};
}

SourceTensor ct2_part(const SourceTensor& whole, uint64_t first, uint64_t count) {
  SourceTensor part = whole;
  const uint64_t each = whole.bytes / whole.shape[0];
  part.shape[0] = count;
  part.bytes = each * count;
  if (whole.reader == nullptr) {
    part.data = whole.data + each * first;
  } else {
    assert(whole.shape.size() > 1);
    part.reader_row += first;
  }
  return part;
}

std::vector<float> ct2_read(const SourceTensor& tensor) {
  charge_bytes(tensor.rows() * tensor.cols() * sizeof(float));
  std::vector<float> values(tensor.rows() * tensor.cols());
  for (uint64_t row = 0; row < tensor.rows(); ++row)
    read_row(tensor, row, std::span(values).subspan(row * tensor.cols(), tensor.cols()));
  return values;
}

void Ct2Variables::refuse(const std::string& text) const { fail("{}: {}", where_, text); }

const Ct2Variable& Ct2Variables::weight(const std::string& name) {
  const auto found = file_.variables.find(name);
  if (found == file_.variables.end()) refuse(fmt::format("{} is missing", shown(name)));
  taken_[name] = true;
  return found->second;
}

double Ct2Variables::number(const std::string& name, std::optional<double> fallback) {
  if (fallback && !has(name)) return *fallback;
  const Ct2Variable& variable = weight(name);
  if (element_count(variable.shape) != uint64_t{1}) refuse(fmt::format("{} is not one number", shown(name)));
  const double value = scalar_of(variable);
  if (!std::isfinite(value)) refuse(fmt::format("{} is {}", shown(name), value));
  return value;
}

std::string Ct2Variables::text(const std::string& name, const std::string& fallback) {
  if (!has(name)) return fallback;
  const Ct2Variable& variable = weight(name);
  if (variable.type != Ct2Type::i8) refuse(fmt::format("{} is no text", shown(name)));
  return {reinterpret_cast<const char*>(variable.bytes.data()), variable.bytes.size()};
}

SourceTensor Ct2Variables::tensor(const std::string& name) {
  const Ct2Variable& variable = weight(name);
  if (variable.shape.empty() || variable.shape.size() > 3 || element_count(variable.shape) == uint64_t{0})
    refuse(fmt::format("{} is no vector or matrix", shown(name)));
  if (variable.type == Ct2Type::f32 || variable.type == Ct2Type::f16 || variable.type == Ct2Type::bf16)
    return {float_type(variable.type), variable.shape, variable.bytes.data(), variable.bytes.size()};
  if (variable.type == Ct2Type::i32 || !has(name + "_scale"))
    refuse(fmt::format("{} is of integers without a scale", shown(name)));
  const Ct2Variable& scale = weight(name + "_scale");
  const uint64_t scales = element_count(scale.shape).value_or(0);
  if (scale.type != Ct2Type::f32 || (scales != 1 && scales != variable.shape[0]))
    refuse(fmt::format("{}_scale has {} values", shown(name), scales));
  std::vector<float> values = inverse_scales(scale);
  if (!all_finite(values)) refuse(fmt::format("{}_scale is not finite", shown(name)));
  const bool by_rows = variable.type == Ct2Type::i8 && variable.shape.size() == 2;
  if (!by_rows) return scaled_values(variable, values);
  if (values.size() == 1) values.assign(variable.shape[0], values[0]);
  return int8_tensor(variable, std::move(values));
}

bool Ct2Variables::same(const std::string& name, const std::string& other) const {
  const auto one = file_.variables.find(name), two = file_.variables.find(other);
  if (one == file_.variables.end() || two == file_.variables.end()) return false;
  const auto equal = [](std::span<const std::byte> a, std::span<const std::byte> b) {
    if (a.size() == b.size()) charge_work(a.size() / 16);
    return a.size() == b.size() && (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  };
  return one->second.shape == two->second.shape && one->second.type == two->second.type &&
         equal(one->second.bytes, two->second.bytes);
}

void Ct2Variables::finish() const {
  for (const auto& [name, variable] : file_.variables) {
    if (taken_.count(name) != 0) continue;
    if (name.ends_with("_scale") && taken_.count(name.substr(0, name.size() - 6)) != 0) continue;
    refuse(fmt::format("the variable {} is not read", shown(name)));
  }
}

}  // namespace mote::convert
