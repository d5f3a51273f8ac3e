// SPDX-License-Identifier: Apache-2.0
#include "converter/source.h"

#include <cassert>
#include <cstring>

#include "converter/readers/ggml_blocks.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Where the file keeps row `row` of a tensor whose heads have `head_rows` rows in interleaved order.
uint64_t interleaved_row(uint64_t row, uint64_t head_rows) {
  const uint64_t i = row % head_rows, half = head_rows / 2;
  return row - i + (i < half ? 2 * i : 2 * (i - half) + 1);
}

/// A vector (a bias) has its heads' elements in one row.
bool is_interleaved_vector(const SourceTensor& tensor) {
  return tensor.interleaved_heads != 0 && tensor.shape.size() < 2;
}

const std::byte* row_data(const SourceTensor& tensor, uint64_t row) {
  assert(row < tensor.rows());
  if (tensor.interleaved_heads != 0 && !is_interleaved_vector(tensor)) {
    row = interleaved_row(row, tensor.rows() / tensor.interleaved_heads);
  }
  return tensor.data + row * (tensor.bytes / tensor.rows());
}

void read_ternary_row(const SourceTensor& tensor, uint64_t row, std::span<float> out) {
  const uint64_t quarter = tensor.rows() / 4, shift = row / quarter * 2;
  const std::byte* bytes = tensor.data + row % quarter * out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const int code = static_cast<int>(load<uint8_t>(bytes + i) >> shift & 3);
    out[i] = static_cast<float>(code - 1) * tensor.scale;
  }
}

}  // namespace

const char* source_type_name(SourceType type) { return block_layout(type).name; }

uint64_t SourceTensor::rows() const {
  return shape.empty() ? 1 : *element_count(std::span(shape).first(shape.size() - 1));
}

uint64_t SourceTensor::cols() const { return shape.empty() ? 1 : shape.back(); }

void read_row(const SourceTensor& tensor, uint64_t row, std::span<float> out) {
  assert(out.size() == tensor.cols());
  if (tensor.reader != nullptr) return tensor.reader->read(tensor.reader_row + row, out);
  if (tensor.type == SourceType::ternary) return read_ternary_row(tensor, row, out);
  if (!is_interleaved_vector(tensor)) {
    dequantize(tensor.type, row_data(tensor, row), out);
    return;
  }
  std::vector<float> stored(out.size());
  dequantize(tensor.type, tensor.data, stored);
  const uint64_t head_elements = out.size() / tensor.interleaved_heads;
  for (uint64_t i = 0; i < out.size(); ++i) out[i] = stored[interleaved_row(i, head_elements)];
}

bool has_same_values(const SourceTensor& a, const SourceTensor& b) {
  if (a.shape != b.shape) return false;
  std::vector<float> row(a.cols()), other(b.cols());
  for (uint64_t i = 0; i < a.rows(); ++i) {
    read_row(a, i, row);
    read_row(b, i, other);
    if (row != other) return false;
  }
  return true;
}

void read_exact_row(const SourceTensor& tensor, uint64_t row, QuantRow& out) {
  assert(!is_interleaved_vector(tensor));
  if (tensor.reader != nullptr) return tensor.reader->read_exact(tensor.reader_row + row, out);
  read_exact_blocks(tensor.type, row_data(tensor, row), tensor.cols(), out);
}

}  // namespace mote::convert
