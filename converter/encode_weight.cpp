// SPDX-License-Identifier: Apache-2.0
#include "converter/encode_weight.h"

#include <algorithm>
#include <cmath>

#include "converter/packers/p16.h"
#include "converter/quantizers/policy.h"
#include "converter/quantizers/quantizer.h"
#include "host/base/error.h"
#include "host/base/parallel.h"
#include "runtime/file/xxh64.h"
#include "schema/f16.h"

namespace mote::convert {
namespace {

constexpr uint64_t kBlockBytes = uint64_t{64}
                                 << 20;  // of f32 rows: enough that a transposed matrix is read few times

/// The rows [begin, end) of a weight, wherever its parts have them.
class RowBlock {
 public:
  RowBlock(const Weight& weight, uint32_t begin, uint32_t end) : weight_(weight), begin_(begin) {
    uint32_t first = 0;  // row of the weight
    for (const WeightPart& part : weight.parts) {
      if (part.transposed)
        gather_columns(part, first, std::max(first, begin), std::min(first + part.rows, end), end);
      first += part.rows;
    }
  }

  /// A row's part and its row in the source.
  std::pair<const WeightPart*, uint32_t> locate(uint32_t row) const {
    for (const WeightPart& part : weight_.parts) {
      if (row < part.rows) return {&part, part.first_row + row * part.row_step};
      row -= part.rows;
    }
    return {nullptr, 0};
  }

  /// [cols]
  void read(uint32_t row, std::span<float> out) const {
    if (!weight_.values.empty()) {
      const size_t first = size_t{row} * weight_.cols;
      std::copy_n(weight_.values.begin() + static_cast<ptrdiff_t>(first), weight_.cols, out.begin());
      return;
    }
    const auto [part, part_row] = locate(row);
    if (part->transposed) {
      const size_t offset = size_t{row - begin_} * weight_.cols;
      std::copy_n(gathered_.begin() + static_cast<ptrdiff_t>(offset), weight_.cols, out.begin());
    } else if (part->tensor == nullptr) {
      std::fill(out.begin(), out.end(), 0.0f);
    } else {
      const size_t cols = part->tensor->cols();
      read_row(*part->tensor, part_row, out.first(cols));
      std::fill(out.begin() + static_cast<ptrdiff_t>(cols), out.end(), 0.0f);
    }
  }

 private:
  /// Columns of a matrix [cols, rows] as rows: its rows are read once for the whole block.
  void gather_columns(const WeightPart& part, uint32_t first, uint32_t from, uint32_t to, uint32_t end) {
    if (from >= to) return;
    gathered_.resize(size_t{end - begin_} * weight_.cols);
    std::vector<float> source(part.tensor->cols());
    for (uint32_t k = 0; k < part.tensor->rows(); ++k) {
      read_row(*part.tensor, k, source);
      for (uint32_t row = from; row < to; ++row) {
        gathered_[size_t{row - begin_} * weight_.cols + k] =
            source[part.first_row + size_t{row - first} * part.row_step];
      }
    }
  }

  const Weight& weight_;
  uint32_t begin_;
  std::vector<float> gathered_;
};

struct ErrorSum {
  double error = 0;
  double energy = 0;
};

void check_values(const Weight& weight, const RowBlock& block, uint32_t row, std::span<const float> values) {
  const Quantizer& type = quantizer(weight.dtype);
  for (size_t k = 0; k < values.size(); ++k) {
    if (std::fabs(values[k]) <= type.largest) continue;
    const auto [part, part_row] = block.locate(row);
    const std::string name = part != nullptr ? part->name : weight.name;
    const size_t first = part != nullptr && part->transposed ? k : part_row;
    const size_t second = part != nullptr && part->transposed ? part_row : k;
    if (!std::isfinite(values[k])) fail("tensor {} holds {} at [{}, {}]", name, values[k], first, second);
    fail("tensor {} holds {} at [{}, {}], too large for {}; use --type f32", name, values[k], first, second,
         type.name);
  }
}

void check_scales(const WeightPart& part, uint32_t row, const QuantRow& quant) {
  for (const std::vector<uint16_t>* numbers : {&quant.scale, &quant.minimum}) {
    for (size_t g = 0; g < numbers->size(); ++g) {
      const float scale = f32_from_f16((*numbers)[g]);
      if (!std::isfinite(scale))
        fail("tensor {} holds {} as a scale at [{}, {}]", part.name, scale, row,
             g * (quant.q.size() / numbers->size()));
    }
  }
}

/// Says whether a part's rows have their own numbers in the weight's type.
bool is_exact_part(const Weight& weight, const WeightPart& part) {
  return part.tensor != nullptr && !part.transposed && weight.column_scales.empty() &&
         weight.row_scales.empty() && part.tensor->cols() == weight.cols &&
         is_exact(*part.tensor, weight.dtype);
}

/// Says whether the row has its own numbers in the weight's type: then gives the numbers to `out`.
bool take_exact_row(const Weight& weight, const RowBlock& block, uint32_t row, EncodedRow& out) {
  const auto [part, part_row] = block.locate(row);
  if (part == nullptr || !is_exact_part(weight, *part)) return false;
  read_exact_row(*part->tensor, part_row, out.quant);
  check_scales(*part, part_row, out.quant);
  return true;
}

std::vector<float> read_scaled_row(const Weight& weight, const RowBlock& block, uint32_t row) {
  std::vector<float> values(weight.cols);
  block.read(row, values);
  for (size_t k = 0; k < weight.column_scales.size(); ++k) values[k] *= weight.column_scales[k];
  if (!weight.row_scales.empty()) {
    for (float& value : values) value *= weight.row_scales[row];
  }
  check_values(weight, block, row, values);
  return values;
}

void add_error(DType dtype, const EncodedRow& row, const std::vector<float>& values, ErrorSum& sum) {
  std::vector<float> decoded(values.size());
  quantizer(dtype).decode(row, decoded);
  for (size_t k = 0; k < values.size(); ++k) {
    const double error = static_cast<double>(decoded[k]) - static_cast<double>(values[k]);
    sum.error += error * error;
    sum.energy += static_cast<double>(values[k]) * static_cast<double>(values[k]);
  }
}

/// Rows [begin, begin + rows.size()) of the source.
void encode_rows(const Weight& weight, const RowBlock& block, uint32_t begin, const ErrorFeedback* feedback,
                 std::vector<EncodedRow>& rows, ErrorSum& sum) {
  std::vector<size_t> rounded;
  std::vector<std::vector<float>> values;
  for (size_t r = 0; r < rows.size(); ++r) {
    const uint32_t row = begin + static_cast<uint32_t>(r);
    if (take_exact_row(weight, block, row, rows[r])) continue;
    rounded.push_back(r);
    values.push_back(read_scaled_row(weight, block, row));
  }
  if (feedback != nullptr) {
    std::vector<EncodedRow> encoded(rounded.size());
    encode_with_error_feedback(weight.dtype, values, *feedback, encoded);
    for (size_t i = 0; i < rounded.size(); ++i) rows[rounded[i]] = std::move(encoded[i]);
  } else {
    for (size_t i = 0; i < rounded.size(); ++i) quantizer(weight.dtype).encode(values[i], rows[rounded[i]]);
  }
  for (size_t i = 0; i < rounded.size(); ++i) add_error(weight.dtype, rows[rounded[i]], values[i], sum);
}

/// Rows [begin, begin + count), at most 16, as one panel or as rows.
void encode_panel(const Weight& weight, const RowBlock& block, uint32_t begin, uint32_t count,
                  const ErrorFeedback* feedback, std::span<std::byte> out, ErrorSum& sum) {
  std::vector<EncodedRow> rows(count);
  encode_rows(weight, block, begin, feedback, rows, sum);
  if (!weight.row_major) return pack_panel(weight.dtype, weight.cols, rows, out);
  for (uint32_t r = 0; r < count; ++r) {
    const size_t bytes = row_bytes(weight.dtype, weight.cols);
    pack_row(weight.dtype, rows[r], out.subspan(r * bytes, bytes));
  }
}

uint64_t panel_size(const Weight& weight, uint32_t rows) {
  if (!weight.row_major) return panel_bytes(weight.dtype, weight.cols);
  return rows * row_bytes(weight.dtype, weight.cols);
}

/// Whole panels of about kBlockBytes.
uint32_t rows_in_block(const Weight& weight) {
  const uint64_t panels = std::max<uint64_t>(1, kBlockBytes / (uint64_t{kPanelRows} * weight.cols * 4));
  return static_cast<uint32_t>(std::min<uint64_t>(panels * kPanelRows, 1u << 24));
}

template <class Use>
void for_each_row(const Weight& weight, Use use) {
  std::vector<float> values(weight.cols);
  const uint32_t block_rows = rows_in_block(weight);
  for (uint32_t begin = 0; begin < weight.rows; begin += block_rows) {
    const uint32_t end = std::min(begin + block_rows, weight.rows);
    const RowBlock block(weight, begin, end);
    for (uint32_t row = begin; row < end; ++row) {
      block.read(row, values);
      use(values);
    }
  }
}

}  // namespace

std::vector<float> column_magnitudes(const Weight& weight) {
  std::vector<float> largest(weight.cols);
  for_each_row(weight, [&](const std::vector<float>& values) {
    for (size_t k = 0; k < values.size(); ++k) largest[k] = std::max(largest[k], std::fabs(values[k]));
  });
  return largest;
}

std::vector<double> column_squares(const Weight& weight) {
  std::vector<double> sums(weight.cols);
  for_each_row(weight, [&](const std::vector<float>& values) {
    for (size_t k = 0; k < values.size(); ++k)
      sums[k] += static_cast<double>(values[k]) * static_cast<double>(values[k]);
  });
  return sums;
}

std::vector<double> largest_squares(const Weight& weight, const std::vector<float>& scales, size_t group) {
  std::vector<double> sums((weight.cols + group - 1) / group);
  for_each_row(weight, [&](const std::vector<float>& values) {
    for (size_t first = 0; first < values.size(); first += group) {
      float largest = 0;
      for (size_t k = first; k < std::min(first + group, values.size()); ++k)
        largest = std::max(largest, std::fabs(values[k]) * (scales.empty() ? 1.0f : scales[k]));
      sums[first / group] += static_cast<double>(largest) * static_cast<double>(largest);
    }
  });
  return sums;
}

bool is_read_exactly(const Weight& weight) {
  return !weight.parts.empty() && std::all_of(weight.parts.begin(), weight.parts.end(),
                                              [&](const auto& part) { return is_exact_part(weight, part); });
}

bool has_exact_part(const Weight& weight) {
  return std::any_of(weight.parts.begin(), weight.parts.end(),
                     [&](const auto& part) { return is_exact_part(weight, part); });
}

uint64_t encoded_bytes(const Weight& weight) {
  return weight.row_major ? row_major_bytes(weight.dtype, weight.rows, weight.cols)
                          : packed_bytes(weight.dtype, weight.rows, weight.cols);
}

EncodeResult encode_weight(const Weight& weight, const std::function<void(std::span<const std::byte>)>& sink,
                           const ErrorFeedback* feedback) {
  const uint32_t block_rows = rows_in_block(weight);
  Xxh64 hash;
  ErrorSum total;
  uint64_t written = 0;
  const auto put = [&](std::span<const std::byte> bytes) {
    hash.update(bytes.data(), bytes.size());
    sink(bytes);
    written += bytes.size();
  };
  for (uint32_t begin = 0; begin < weight.rows; begin += block_rows) {
    const uint32_t end = std::min(begin + block_rows, weight.rows);
    const RowBlock block(weight, begin, end);
    const uint32_t panels = (end - begin + kPanelRows - 1) / kPanelRows;
    const uint64_t full_panel = panel_size(weight, kPanelRows);
    const uint32_t last_rows = end - begin - (panels - 1) * kPanelRows;
    std::vector<std::byte> bytes((panels - 1) * full_panel + panel_size(weight, last_rows));
    std::vector<ErrorSum> sums(panels);
    parallel(panels, [&](uint32_t panel) {
      const uint32_t rows = panel + 1 < panels ? kPanelRows : last_rows;
      encode_panel(weight, block, begin + panel * kPanelRows, rows, feedback,
                   std::span(bytes).subspan(panel * full_panel, panel_size(weight, rows)), sums[panel]);
    });
    for (const ErrorSum& sum : sums) {  // in order: the same sum for any number of threads
      total.error += sum.error;
      total.energy += sum.energy;
    }
    put(bytes);
  }
  put(std::vector<std::byte>(encoded_bytes(weight) - written));
  return {hash.digest(), total.energy == 0 ? 0.0 : std::sqrt(total.error / total.energy)};
}

}  // namespace mote::convert
