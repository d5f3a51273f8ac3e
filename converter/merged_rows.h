// SPDX-License-Identifier: Apache-2.0
//
// Rows of weights that an adapter changes, made as they are read.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// A weight with an adapter's product.
struct MergedRows : RowReader {
  SourceTensor base;
  bool transposed = false;
  float factor = 0;
  uint64_t rank = 0;
  std::vector<float> a_values, b_values;  // [r, in], [out, r]

  void read(uint64_t row, std::span<float> out) const override;
  /// DoRA: outputs get these lengths. The base has to be set before.
  void set_lengths(const std::vector<float>& lengths);

 private:
  void add_product(uint64_t row, std::span<float> out) const;

  std::vector<double> stretches_;  // of each output; empty: none
};

/// A vector with another added.
struct AddedVector : RowReader {
  SourceTensor base;
  std::vector<float> added;

  void read(uint64_t row, std::span<float> out) const override;
};

/// A table some of whose rows are others.
struct ReplacedRows : RowReader {
  SourceTensor base;
  std::map<uint64_t, uint64_t> rows;  // of the table, to those of the others
  SourceTensor others;

  void read(uint64_t row, std::span<float> out) const override;
};

}  // namespace mote::convert
