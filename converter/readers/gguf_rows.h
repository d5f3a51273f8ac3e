// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a GGUF whose rows or columns stand in another order than Hugging Face's.
#pragma once

#include <utility>
#include <vector>

#include "converter/source.h"

namespace mote::convert {

/// Gives row i as the tensor's row rows[i], column k as its column columns[k]; empty: the order is the same.
class OrderedRows : public RowReader {
 public:
  OrderedRows(SourceTensor tensor, std::vector<uint32_t> rows, std::vector<uint32_t> columns)
      : tensor_(std::move(tensor)), rows_(std::move(rows)), columns_(std::move(columns)) {}

  void read(uint64_t row, std::span<float> out) const override {
    if (columns_.empty()) return read_row(tensor_, place(row), out);
    std::vector<float> stored(out.size());
    read_row(tensor_, place(row), stored);
    for (size_t k = 0; k < out.size(); ++k) out[k] = stored[columns_[k]];
  }
  bool has_exact() const override { return columns_.empty() && has_exact_type(tensor_.type); }
  void read_exact(uint64_t row, QuantRow& out) const override { read_exact_row(tensor_, place(row), out); }

 private:
  uint64_t place(uint64_t row) const { return rows_.empty() ? row : rows_[row]; }

  SourceTensor tensor_;
  std::vector<uint32_t> rows_, columns_;
};

}  // namespace mote::convert
