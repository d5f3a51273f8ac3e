// SPDX-License-Identifier: Apache-2.0
#include "converter/quantizers/quantizer.h"

#include <algorithm>

namespace mote::convert {
namespace {

/// A list that a span may be of, also an empty one.
template <SourceType... types>
struct SourceTypes {
  static constexpr std::array<SourceType, sizeof...(types)> list = {types...};
};

}  // namespace

#define QUANTIZER(name, ...)                                                                   \
  namespace name {                                                                             \
  void encode(std::span<const float> row, std::span<const float> importance, EncodedRow& out); \
  void decode(const EncodedRow& row, std::span<float> out);                                    \
  }
#include "converter/quantizers/list.inc"
#undef QUANTIZER

const std::array<Quantizer, kDTypeCount>& quantizers() {
  static const std::array<Quantizer, kDTypeCount> list = {{
#define GRID(least, most, columns, scale_columns) \
  QuantGrid { least, most, columns, scale_columns }
#define NO_GRID \
  QuantGrid {}
#define QUANTIZER(name, largest, bound, grid, ...) \
  {#name, DType::name, largest, bound, grid, SourceTypes<__VA_ARGS__>::list, name::encode, name::decode},
#include "converter/quantizers/list.inc"
#undef QUANTIZER
#undef NO_GRID
#undef GRID
  }};
  return list;
}

std::optional<DType> exact_dtype(SourceType type) {
  for (const Quantizer& one : quantizers()) {
    if (std::find(one.equals.begin(), one.equals.end(), type) != one.equals.end()) return one.dtype;
  }
  return std::nullopt;
}

bool has_exact_type(SourceType type) { return exact_dtype(type).has_value(); }

}  // namespace mote::convert
