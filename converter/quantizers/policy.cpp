// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/policy.h"

#include <fmt/ranges.h>

#include "converter/convert.h"
#include "converter/quantizers/quantizer.h"
#include "host/base/did_you_mean.h"
#include "host/base/error.h"

namespace mote::convert {
std::vector<std::string> type_names() {
  std::vector<std::string> names = {"q8", "q4"};
  for (const Quantizer& type : quantizers()) names.emplace_back(type.name);
  return names;
}

std::string type_names_for_people(bool of_heads) {
  std::string of_groups, of_rows;
  for (const Quantizer& type : quantizers()) {
    const bool wide = type.grid.columns == kWideColumns;
    if (of_heads && wide) continue;
    std::string& names = activation_dtype(type.dtype) == DType::q8c ? of_rows : of_groups;
    names += (names.empty() ? "" : ", ") + std::string(type.name);
  }
  return of_groups + ", " + of_rows;
}

std::vector<std::string> head_type_names() {
  std::vector<std::string> names;
  for (const Quantizer& type : quantizers()) names.emplace_back(type.name);
  return names;
}

namespace {

constexpr uint64_t kNarrowColumns = 512;

/// Throws Error for a name that is not among `names`.
DType uniform_type(const std::string& name, const char* what, const std::vector<std::string>& names) {
  for (const Quantizer& type : quantizers()) {
    if (name == type.name) return type.dtype;
  }
  fail("{} '{}' is unknown{}; types are {}", what, name, did_you_mean(name, names), fmt::join(names, ", "));
}

}  // namespace

TypePolicy::TypePolicy(const std::string& type, const Source& source, bool encoder,
                       const std::string& head_type)
    : name_(type) {
  if (type.empty()) name_ = source.format == "gguf" ? "as in the file" : "q8";
  keeps_packed_ = type.empty() && source.packed;
  chooses_ = name_ == "q8" || name_ == "q4";
  if (chooses_) {
    matrix_ = name_ == "q4" ? DType::q4k : encoder ? DType::q8c : DType::q8g32;
    if (name_ == "q4") narrow_ = DType::q4g32;
    table_ = DType::q8g32;
  } else if (!type.empty()) {
    matrix_ = table_ = uniform_type(type, "type", type_names());
  }
  if (keeps_packed_) name_ = "as in the file, others q8";
  head_ = table_;
  if (head_type.empty()) return;
  head_ = uniform_type(head_type, "head type", head_type_names());
  name_ += ", head " + head_type;
}

DType TypePolicy::dtype(Role role, const SourceTensor& tensor) const {
  if (tensor.type == SourceType::ternary) return own_type(tensor.type);
  const bool is_matrix = role == Role::matrix || role == Role::experts;
  if (keeps_packed_ && tensor.type == SourceType::packed)
    fail(
        "a matrix [{}] of the checkpoint has scales and zeros that no type holds exactly; --type q8, q4 or a "
        "type for all rounds its numbers again",
        fmt::join(tensor.shape, ", "));
  const bool keeps = keeps_packed_ && tensor.reader != nullptr && has_exact_type(tensor.type) &&
                     (role != Role::head || head_ == table_);
  std::optional<DType> wanted = is_matrix ? matrix_ : role == Role::head ? head_ : table_;
  if (is_matrix && narrow_ && tensor.cols() < kNarrowColumns) wanted = narrow_;
  if (keeps) wanted = own_type(tensor.type);
  const DType dtype = wanted.value_or(own_type(tensor.type));
  if (role == Role::experts && dtype == DType::q8c)
    fail(
        "type q8c cannot hold a matrix for each expert or head, whose inputs lie side by side; use q8 or "
        "q8g32");
  const bool is_fine = role == Role::positions || role == Role::fine;
  if (is_fine && dtype != DType::f16) return DType::f32;
  return dtype;
}

DType own_type(SourceType type) {
  if (const std::optional<DType> exact = exact_dtype(type)) return *exact;
  switch (type) {  // the next larger type
    case SourceType::f16:
      return DType::f16;
    case SourceType::ternary:
      return DType::q8c;
    case SourceType::q2_k:
    case SourceType::q3_k:
      return DType::q4k;
    case SourceType::iq4_nl:
    case SourceType::mxfp4:
      return DType::q5k;
    case SourceType::q5_0:
    case SourceType::q5_1:
      return DType::q6k;
    default:
      return DType::f32;
  }
}

bool is_exact(const SourceTensor& tensor, DType dtype) {
  const bool exact = tensor.reader != nullptr ? tensor.reader->has_exact() : has_exact_type(tensor.type);
  return exact && own_type(tensor.type) == dtype;
}

}  // namespace mote::convert
