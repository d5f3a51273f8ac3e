// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/row_rounding.h"

#include <algorithm>
#include <cmath>

#include "converter/encode_weight.h"

namespace mote::convert {
namespace {

constexpr double kSteps = 127;           // of the largest magnitude
constexpr double kUniformVariance = 12;  // a rounding's square is a step's over it, in the mean

}  // namespace

double rounding_error(std::span<const float> rows, const std::vector<const Weight*>& weights,
                      const std::vector<float>& scales, size_t group) {
  const size_t columns = weights[0]->cols;
  const auto scale = [&](size_t k) { return scales.empty() ? 1.0 : static_cast<double>(scales[k]); };
  std::vector<double> of_columns(columns);                       // squares
  std::vector<double> of_groups((columns + group - 1) / group);  // squares of the largest, over all rows
  for (const Weight* weight : weights) {
    const std::vector<double> squares = column_squares(*weight),
                              largest = largest_squares(*weight, scales, group);
    for (size_t k = 0; k < columns; ++k) of_columns[k] += squares[k];
    for (size_t g = 0; g < of_groups.size(); ++g) of_groups[g] += largest[g];
  }
  double errors = 0, products = 0;
  for (size_t first = 0; first + columns <= rows.size(); first += columns) {
    for (size_t g = 0; g < of_groups.size(); ++g) {
      double largest = 0, squares = 0, of_weights = 0;
      for (size_t k = g * group; k < std::min((g + 1) * group, columns); ++k) {
        const double x = static_cast<double>(rows[first + k]), scaled = x / scale(k);
        largest = std::max(largest, std::fabs(scaled));
        squares += scaled * scaled;
        of_weights += scale(k) * scale(k) * of_columns[k];
        products += x * x * of_columns[k];
      }
      errors += largest * largest * of_weights + squares * of_groups[g];
    }
  }
  return products == 0 ? 0 : std::sqrt(errors / products / kUniformVariance) / kSteps;
}

}  // namespace mote::convert
