// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration/error_feedback.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/quantizers/grid.h"
#include "host/base/parallel.h"

namespace mote::convert {
namespace {

constexpr double kDamping = 0.01;     // of the diagonal's mean
constexpr uint32_t kRowsOfTask = 64;  // of a span

uint32_t span_columns(uint32_t columns, size_t span) {
  return std::min(kFeedbackColumns, columns - static_cast<uint32_t>(span) * kFeedbackColumns);
}

size_t span_count(uint32_t columns) { return (columns + kFeedbackColumns - 1) / kFeedbackColumns; }

/// sums[j] += sum over inputs of x[i] x[j], for j from i on. Four inputs at a time, so that the sums are
/// loaded less often.
void add_products(const float* x, uint32_t rows, size_t stride, uint32_t i, uint32_t n, float* sums) {
  uint32_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const float *a = x + row * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    const float ai = a[i], bi = b[i], ci = c[i], di = d[i];
    for (uint32_t j = i; j < n; ++j) sums[j] += (ai * a[j] + bi * b[j]) + (ci * c[j] + di * d[j]);
  }
  for (; row < rows; ++row) {
    const float* a = x + row * stride;
    for (uint32_t j = i; j < n; ++j) sums[j] += a[i] * a[j];
  }
}

/// In sums that do not wait for each other.
double dot(const double* a, const double* b, size_t count) {
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  size_t m = 0;
  for (; m + kLanes <= count; m += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[m + lane] * b[m + lane];
  }
  for (; m < count; ++m) lanes[0] += a[m] * b[m];
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

/// H = R R^T, R upper triangular, from the last column to the first; then U = R / diagonal, D = diagonal^2.
/// `sums` has H times `rows` and becomes U.
void factor_span(std::vector<float>& sums, uint32_t n, uint64_t rows, std::span<float> importance) {
  std::vector<double> r(size_t{n} * n);
  double trace = 0;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = i; j < n; ++j)
      r[size_t{i} * n + j] = static_cast<double>(sums[size_t{i} * n + j]) / static_cast<double>(rows);
    trace += r[size_t{i} * n + i];
  }
  // Inputs of zeros alone: every column counts the same.
  const double damping = trace > 0 ? kDamping * trace / n : 1.0;
  for (uint32_t i = 0; i < n; ++i) r[size_t{i} * n + i] += damping;
  for (uint32_t k = n; k-- > 0;) {
    const double* behind = &r[size_t{k} * n + k];
    const size_t count = n - 1 - k;
    double& diagonal = r[size_t{k} * n + k];
    diagonal = std::sqrt(std::max(diagonal - dot(behind + 1, behind + 1, count), damping));
    for (uint32_t j = 0; j < k; ++j) {
      double* cell = &r[size_t{j} * n + k];
      *cell = (*cell - dot(cell + 1, behind + 1, count)) / diagonal;
    }
  }
  for (uint32_t k = 0; k < n; ++k) {
    const double diagonal = r[size_t{k} * n + k];
    importance[k] = static_cast<float>(diagonal * diagonal);
    for (uint32_t j = 0; j < k; ++j)
      sums[size_t{j} * n + k] = static_cast<float>(r[size_t{j} * n + k] / diagonal);
  }
}

struct GridLine {
  float scale, minimum;
};

/// Returns the line of column `k` of a piece whose columns share a grid.
GridLine line_of(const QuantGrid& grid, const QuantRow& piece, size_t k) {
  const auto number = [&](const std::vector<uint16_t>& of, const std::vector<int8_t>& steps) {
    if (of.empty()) return 0.0f;
    const float unit = f32_from_f16(of[0]);
    return steps.empty() ? unit : unit * static_cast<float>(steps[k / grid.scale_columns]);
  };
  return {number(piece.scale, piece.scale_steps), number(piece.minimum, piece.minimum_steps)};
}

void append(const QuantRow& piece, QuantRow& row) {
  const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  join(row.q, piece.q);
  join(row.scale, piece.scale);
  join(row.minimum, piece.minimum);
  join(row.scale_steps, piece.scale_steps);
  join(row.minimum_steps, piece.minimum_steps);
}

/// Some rows as they go through the columns of a span.
class SpanRounder {
 public:
  SpanRounder(DType dtype, const std::vector<std::vector<float>>& rows, size_t first, uint32_t n)
      : dtype_(dtype), grid_(quantizer(dtype).grid), rows_(rows), first_(first), n_(n), wanted_(rows.size()) {
    for (size_t r = 0; r < rows.size(); ++r) {
      const auto begin = rows[r].begin() + static_cast<ptrdiff_t>(first);
      wanted_[r].assign(begin, begin + n);
    }
  }

  void round(std::span<const float> importance, const std::vector<float>& feedback,
             std::span<EncodedRow> out) {
    for (size_t begin = 0; begin < n_; begin += grid_.columns) {
      const size_t count = std::min(grid_.columns, n_ - begin);
      std::vector<EncodedRow> pieces(rows_.size());
      for (size_t r = 0; r < rows_.size(); ++r)
        quantizer(dtype_).encode_weighed(std::span(wanted_[r]).subspan(begin, count),
                                         importance.subspan(begin, count), pieces[r]);
      for (size_t k = begin; k < begin + count; ++k) {
        const float* of_error = &feedback[k * n_];
        for (size_t r = 0; r < rows_.size(); ++r) round_column(r, k, begin, of_error, pieces[r].quant);
      }
      for (size_t r = 0; r < rows_.size(); ++r) append(pieces[r].quant, out[r].quant);
    }
  }

 private:
  void round_column(size_t r, size_t k, size_t begin, const float* of_error, QuantRow& piece) {
    std::vector<float>& wanted = wanted_[r];
    const GridLine line = line_of(grid_, piece, k - begin);
    const float inverse = line.scale == 0.0f ? 0.0f : 1.0f / line.scale;
    const float q = round_even(std::clamp((wanted[k] - line.minimum) * inverse, grid_.least, grid_.most));
    piece.q[k - begin] = static_cast<int8_t>(q);
    const float error = rows_[r][first_ + k] - (line.scale * q + line.minimum);
    for (size_t j = k + 1; j < n_; ++j) wanted[j] += error * of_error[j];
  }

  DType dtype_;
  QuantGrid grid_;
  const std::vector<std::vector<float>>& rows_;
  size_t first_, n_;
  std::vector<std::vector<float>> wanted_;  // [rows, n], the errors of earlier columns added
};

}  // namespace

InputProducts::InputProducts(uint32_t columns) : columns_(columns) {
  for (size_t span = 0; span < span_count(columns); ++span) {
    const size_t n = span_columns(columns, span);
    spans_.emplace_back(n * n);
  }
}

uint64_t InputProducts::bytes(uint32_t columns) {
  uint64_t sum = 0;
  for (size_t span = 0; span < span_count(columns); ++span) {
    const uint64_t n = span_columns(columns, span);
    sum += n * n * sizeof(float);
  }
  return sum;
}

void InputProducts::add(const float* data, uint32_t rows, size_t stride) {
  rows_ += rows;
  for (size_t span = 0; span < spans_.size(); ++span) {
    const uint32_t n = span_columns(columns_, span);
    const float* x = data + span * kFeedbackColumns;
    parallel((n + kRowsOfTask - 1) / kRowsOfTask, [&](uint32_t task) {
      for (uint32_t i = task * kRowsOfTask; i < std::min(n, (task + 1) * kRowsOfTask); ++i)
        add_products(x, rows, stride, i, n, &spans_[span][size_t{i} * n]);
    });
  }
}

ErrorFeedback make_error_feedback(const InputProducts& products) {
  ErrorFeedback feedback{std::vector<float>(products.columns()), products.spans()};
  for (size_t span = 0; span < feedback.spans.size(); ++span) {
    const uint32_t n = span_columns(products.columns(), span);
    factor_span(feedback.spans[span], n, std::max<uint64_t>(1, products.rows()),
                std::span(feedback.importance).subspan(span * kFeedbackColumns, n));
  }
  const double sum = std::accumulate(feedback.importance.begin(), feedback.importance.end(), 0.0);
  const double mean = sum / static_cast<double>(feedback.importance.size());
  for (float& value : feedback.importance) value = static_cast<float>(static_cast<double>(value) / mean);
  return feedback;
}

bool takes_error_feedback(DType dtype) { return quantizer(dtype).grid.most != 0; }

void encode_with_error_feedback(DType dtype, const std::vector<std::vector<float>>& rows,
                                const ErrorFeedback& feedback, std::span<EncodedRow> out) {
  for (EncodedRow& row : out) row = {};
  const auto columns = static_cast<uint32_t>(feedback.importance.size());
  for (size_t span = 0; span < feedback.spans.size(); ++span) {
    const uint32_t n = span_columns(columns, span);
    const size_t first = span * kFeedbackColumns;
    SpanRounder(dtype, rows, first, n)
        .round(std::span(feedback.importance).subspan(first, n), feedback.spans[span], out);
  }
}

}  // namespace mote::convert
