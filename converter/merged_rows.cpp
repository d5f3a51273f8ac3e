// SPDX-License-Identifier: Apache-2.0
#include "converter/merged_rows.h"

#include <cmath>

namespace mote::convert {

void MergedRows::add_product(uint64_t row, std::span<float> out) const {
  const uint64_t outputs = b_values.size() / rank, inputs = a_values.size() / rank;
  std::vector<double> sum(out.size());
  for (uint64_t j = 0; j < rank; ++j) {
    if (transposed) {
      const double left = static_cast<double>(a_values[j * inputs + row]);
      for (uint64_t k = 0; k < outputs; ++k) sum[k] += left * static_cast<double>(b_values[k * rank + j]);
    } else {
      const double left = static_cast<double>(b_values[row * rank + j]);
      for (uint64_t k = 0; k < inputs; ++k) sum[k] += left * static_cast<double>(a_values[j * inputs + k]);
    }
  }
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<float>(static_cast<double>(out[k]) + static_cast<double>(factor) * sum[k]);
}

void MergedRows::read(uint64_t row, std::span<float> out) const {
  read_row(base, row, out);
  add_product(row, out);
  if (stretches_.empty()) return;
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<float>(stretches_[transposed ? k : row] * static_cast<double>(out[k]));
}

void MergedRows::set_lengths(const std::vector<float>& lengths) {
  stretches_.clear();
  std::vector<double> squares(lengths.size());
  std::vector<float> row(base.cols());
  for (uint64_t i = 0; i < base.rows(); ++i) {
    read(i, row);
    for (size_t k = 0; k < row.size(); ++k)
      squares[transposed ? k : i] += static_cast<double>(row[k]) * static_cast<double>(row[k]);
  }
  for (size_t i = 0; i < lengths.size(); ++i)
    stretches_.push_back(squares[i] == 0 ? 1 : static_cast<double>(lengths[i]) / std::sqrt(squares[i]));
}

void AddedVector::read(uint64_t row, std::span<float> out) const {
  read_row(base, row, out);
  for (size_t k = 0; k < out.size(); ++k) out[k] += added[k];
}

void ReplacedRows::read(uint64_t row, std::span<float> out) const {
  const auto found = rows.find(row);
  if (found == rows.end()) return read_row(base, row, out);
  read_row(others, found->second, out);
}

}  // namespace mote::convert
