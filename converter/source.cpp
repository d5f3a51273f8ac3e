// SPDX-License-Identifier: Apache-2.0
#include "converter/source.h"

#include <cassert>
#include <cstring>
#include <system_error>

#include "converter/onnx/onnx_file.h"
#include "converter/readers/ctranslate2.h"
#include "converter/readers/ggml_blocks.h"
#include "converter/readers/readers.h"
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

/// What a file is that no reader takes, as advice.
[[noreturn]] void fail_unknown(const std::filesystem::path& path, std::span<const std::byte> file) {
  const auto starts_with = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  if (file.empty()) fail("{} is empty", path.string());
  if (file.size() > 8 && file[8] == std::byte{'{'}) {
    fail(
        "{} looks like safetensors, which do not say what model they are: give the directory that has its "
        "config.json",
        path.string());
  }
  if (starts_with("PK")) {
    fail(
        "{} looks like a PyTorch checkpoint, which does not say what model it is: give the directory that "
        "has its "
        "config.json",
        path.string());
  }
  fail(
      "{} is not a model: expected a directory with config.json and model.safetensors or model.onnx, or with "
      "CTranslate2's model.bin, a .gguf file, an .onnx file or a llama2.c .bin file",
      path.string());
}

/// Weights in Hugging Face's files come first.
bool holds_ctranslate2(const std::filesystem::path& directory) {
  std::error_code error;
  for (const char* other : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"}) {
    if (std::filesystem::exists(directory / other, error)) return false;
  }
  const std::filesystem::path path = directory / "model.bin";
  return std::filesystem::is_regular_file(path, error) && is_ctranslate2(MappedFile(path).bytes());
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

namespace {

Source read_any(const std::filesystem::path& path, const std::vector<std::string>& ignored) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return holds_ctranslate2(path) ? read_ctranslate2(path) : read_hf_directory(path, {}, ignored);
  }
  auto file = std::make_unique<MappedFile>(path);
  const auto bytes = file->bytes();
  if (path.filename() == "model.bin" && is_ctranslate2(bytes)) return read_ctranslate2(path.parent_path());
  Source source;
  if (is_gguf(bytes)) return read_gguf_parts(std::move(file), ignored);
  if (is_onnx(bytes)) return read_onnx_file(path, ignored);
  if (is_llama2c(bytes)) {
    source = read_llama2c(bytes, path);
  } else {
    fail_unknown(path, bytes);
  }
  source.files.push_back(std::move(file));
  return source;
}

}  // namespace

Source read_source(const std::filesystem::path& path, const std::vector<std::string>& ignored) {
  Source source = read_any(path, ignored);
  source.ignored_keys = ignored;
  return source;
}

}  // namespace mote::convert
