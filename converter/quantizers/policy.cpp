// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/policy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "converter/convert.h"
#include "converter/error.h"
#include "converter/quantizers/quantizer.h"

namespace mote::convert {
namespace {

/// Insertions, deletions and replacements between two words (Levenshtein 1966).
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
  return *std::min_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
}

std::vector<std::string> type_names() {
  std::vector<std::string> names = {"q8", "q4"};
  for (const Quantizer& type : quantizers()) names.emplace_back(type.name);
  return names;
}

TypePolicy::TypePolicy(const std::string& type, const Source& source) : name_(type) {
  if (type.empty() && source.format == "gguf") {
    name_ = "as in the file";
    return;
  }
  if (type.empty()) name_ = "q8";
  if (name_ == "q8" || name_ == "q4") {
    matrix_ = name_ == "q8" ? DType::q8g32 : DType::q4g32;
    table_ = DType::q8g32;
    return;
  }
  for (const Quantizer& uniform : quantizers()) {
    if (name_ == uniform.name) matrix_ = table_ = uniform.dtype;
  }
  if (!matrix_) {
    fail("type \"{}\" is unknown; did you mean {}? Types are {}", type, nearest_name(type, type_names()),
         fmt::join(type_names(), ", "));
  }
}

DType TypePolicy::dtype(Role role, const SourceTensor& tensor) const {
  const std::optional<DType> chosen = role == Role::matrix ? matrix_ : table_;
  const DType dtype = chosen.value_or(own_type(tensor.type));
  if (role == Role::positions && dtype != DType::f16) return DType::f32;
  return dtype;
}

DType own_type(SourceType type) {
  switch (type) {
    case SourceType::f32:
    case SourceType::bf16:
      return DType::f32;
    case SourceType::f16:
      return DType::f16;
    case SourceType::q4_0:
      return DType::q4g32;
    case SourceType::q4_1:
    case SourceType::q4_k:
      return DType::q4mg32;
    case SourceType::q8_0:
    case SourceType::q5_0:
    case SourceType::q5_1:
    case SourceType::q2_k:
    case SourceType::q3_k:
    case SourceType::q5_k:
    case SourceType::q6_k:
      return DType::q8g32;
  }
  return DType::f32;
}

bool is_exact(const SourceTensor& tensor, DType dtype) {
  return has_exact_type(tensor.type) && own_type(tensor.type) == dtype;
}

}  // namespace mote::convert
