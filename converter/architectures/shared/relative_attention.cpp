// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/relative_attention.h"

namespace mote::convert {
namespace {

/// The sum of n products, in several sums at a time.
double dot_product(const float* a, const float* b, uint32_t n) {
  constexpr uint32_t kSums = 8;
  double sums[kSums] = {};
  uint32_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (uint32_t k = 0; k < kSums; ++k) sums[k] += double{a[i + k]} * double{b[i + k]};
  }
  for (; i < n; ++i) sums[0] += double{a[i]} * double{b[i]};
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

std::vector<float> project_rows(const std::vector<float>& rows, uint32_t inputs,
                                const std::vector<float>& weight, const std::vector<float>& bias) {
  const size_t count = rows.size() / inputs, outputs = weight.size() / inputs;
  std::vector<float> result(count * outputs);
  for (size_t row = 0; row < count; ++row) {
    for (size_t output = 0; output < outputs; ++output) {
      const double sum = dot_product(&rows[row * inputs], &weight[output * inputs], inputs);
      result[row * outputs + output] = static_cast<float>(sum + (bias.empty() ? 0.0 : double{bias[output]}));
    }
  }
  return result;
}

std::vector<float> by_distance(const std::vector<float>& rows, uint32_t outputs, uint32_t reach,
                               const std::function<uint32_t(int32_t)>& row_of) {
  charge_table({outputs, 2, reach});
  const uint32_t columns = 2 * reach - 1;
  std::vector<float> table(size_t{outputs} * columns);
  for (uint32_t column = 0; column < columns; ++column) {
    const size_t row = row_of(static_cast<int32_t>(column) - static_cast<int32_t>(reach - 1));
    for (size_t output = 0; output < outputs; ++output)
      table[output * columns + column] = rows[row * outputs + output];
  }
  return table;
}

}  // namespace mote::convert
