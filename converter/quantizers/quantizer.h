// SPDX-License-Identifier: Apache-2.0
//
// Weight types: how a row of f32 becomes the numbers that are stored.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "converter/quant_row.h"
#include "converter/source.h"
#include "schema/block_formats.h"

namespace mote::convert {

/// A row ready to be packed: `values` in the types f32 and f16 (already rounded), `quant` in the others,
/// whose q is padded to whole groups.
struct EncodedRow {
  std::vector<float> values;
  QuantRow quant;
};

/// The integers that error feedback chooses among. `columns` share the numbers of a grid, `scale_columns` a
/// scale; most is 0 for a type that takes no feedback.
struct QuantGrid {
  float least, most;
  size_t columns, scale_columns;
};

struct Quantizer {
  const char* name;
  DType dtype;
  float largest;  // magnitude that a weight may have
  float bound;  // root mean square error of a group (q8c: a row) in shares of its largest magnitude (0.02 to
                // 60000)
  QuantGrid grid;
  std::span<const SourceType> equals;  // types of sources whose numbers it holds as they are
  /// `row` is finite and within `largest`. The squared error of column k counts importance[k] >= 0 times in
  /// the choice of scales; an empty `importance` is as ones. Types of a scale per row take no notice of it.
  void (*encode_weighed)(std::span<const float> row, std::span<const float> importance, EncodedRow& out);
  void (*decode)(const EncodedRow& row, std::span<float> out);

  void encode(std::span<const float> row, EncodedRow& out) const { encode_weighed(row, {}, out); }
};

/// Indexed by DType.
const std::array<Quantizer, kDTypeCount>& quantizers();

/// Returns the type that holds numbers of a source's type as they are, where there is one.
std::optional<DType> exact_dtype(SourceType type);

inline const Quantizer& quantizer(DType dtype) { return quantizers()[static_cast<size_t>(dtype)]; }

}  // namespace mote::convert
