// SPDX-License-Identifier: Apache-2.0
//
// Rows of matrices that other tools have quantized.
#pragma once

#include <functional>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// Integers with a scale and a zero for each group of columns of a row.
struct IntegerRows : RowReader {
  IntegerRows(uint64_t rows_, uint64_t columns_, uint64_t group_)
      : rows(rows_), columns(columns_), group(group_) {}

  uint64_t rows, columns;
  uint64_t group;                       // columns
  std::vector<float> scales;            // [rows, groups]
  std::vector<int16_t> zeros;           // [rows, groups]
  std::vector<uint32_t> column_groups;  // [columns]; empty: k / group
  std::function<int(uint64_t row, uint64_t column)> integer;
  int least = 0, most = 0;         // of the integers
  bool prefers_row_scale = false;  // to int8 in groups, where both hold the numbers

  /// The type whose integers and scales hold all numbers; packed where there is none.
  SourceType settle_type();

  void read(uint64_t row, std::span<float> out) const override;
  bool has_exact() const override { return type_ != SourceType::packed; }
  void read_exact(uint64_t row, QuantRow& out) const override;

 private:
  uint64_t groups() const { return (columns + group - 1) / group; }
  uint64_t group_at(uint64_t k) const { return column_groups.empty() ? k / group : column_groups[k]; }

  SourceType type_ = SourceType::packed;
};

/// -1, 0 and 1 times the mean magnitude of a matrix, which the numbers are rounded to.
struct TernaryRows : RowReader {
  explicit TernaryRows(const SourceTensor& plain_);

  SourceTensor plain;
  float scale = 0.0f;

  void read(uint64_t row, std::span<float> out) const override;
};

/// F8_E4M3 with a scale for each block.
struct Fp8Rows : RowReader {
  Fp8Rows(const std::byte* data_, uint64_t columns_, uint64_t block_rows_, uint64_t block_columns_,
          std::vector<float> scales_)
      : data(data_),
        columns(columns_),
        block_rows(block_rows_),
        block_columns(block_columns_),
        scales(std::move(scales_)) {}

  const std::byte* data;  // [rows, columns]
  uint64_t columns, block_rows, block_columns;
  std::vector<float> scales;  // [blocks of rows, blocks of columns]

  void read(uint64_t row, std::span<float> out) const override;
};

}  // namespace mote::convert
