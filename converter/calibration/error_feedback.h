// SPDX-License-Identifier: Apache-2.0
//
// Rounding by what a weight's columns meet. With H the mean of x x^T over inputs x, rounding a row w to w'
// moves its output by e = w - w', on average by e H e^T squared. H = U D U^T, U of ones on its diagonal and
// zeros below, so that this is the sum over k of D[k] (e U)[k]^2: a column's rounding counts D[k] times, and
// what it leaves is added to the columns behind it before they are rounded (GPTQ, Frantar et al. 2022, in the
// form of LDLQ, Chee et al. 2023):
//
//   w'[k] = round(w[k] + sum over j < k of e[j] U[j][k])
//
// Columns are taken kFeedbackColumns at a time, and products across these spans count as 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "converter/quantizers/quantizer.h"

namespace mote::convert {

inline constexpr uint32_t kFeedbackColumns = 2048;  // of a span; a multiple of all groups

/// Sums of x x^T over inputs, span by span.
class InputProducts {
 public:
  explicit InputProducts(uint32_t columns);
  /// Adds inputs, [rows, columns] with `stride` floats from one to the next.
  void add(const float* data, uint32_t rows, size_t stride);

  uint32_t columns() const { return columns_; }
  uint64_t rows() const { return rows_; }
  const std::vector<std::vector<float>>& spans() const { return spans_; }
  /// Returns the bytes that an object of so many columns takes.
  static uint64_t bytes(uint32_t columns);

 private:
  uint32_t columns_;
  uint64_t rows_ = 0;
  std::vector<std::vector<float>> spans_;  // [n, n] of each, on and above the diagonal
};

struct ErrorFeedback {
  std::vector<float> importance;          // [columns], D over its mean
  std::vector<std::vector<float>> spans;  // U of each, [n, n]; only above the diagonal
};

/// A hundredth of the mean of H's diagonal is added to it, which also makes up for inputs too few or alike.
ErrorFeedback make_error_feedback(const InputProducts& products);

/// Says whether the type's rounding can take error feedback: types of at most 6 bits can.
bool takes_error_feedback(DType dtype);

/// Rows of one length, finite and within the type's largest, to `out`, [rows].
void encode_with_error_feedback(DType dtype, const std::vector<std::vector<float>>& rows,
                                const ErrorFeedback& feedback, std::span<EncodedRow> out);

}  // namespace mote::convert
