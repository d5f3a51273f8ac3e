// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of other tools, written here by their published layouts and read value for value.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "converter/quantizers/policy.h"
#include "converter/quantizers/quantizer.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "schema/f16.h"
#include "tests/support/files.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

/// Tensors with the bytes they stand for.
class Checkpoint {
 public:
  template <class Number>
  void add(const std::string& name, const char* dtype, std::vector<uint64_t> shape,
           const std::vector<Number>& values) {
    std::vector<std::byte>& bytes = bytes_[name];
    const auto view = std::as_bytes(std::span(values));
    bytes.assign(view.begin(), view.end());
    tensors_[name] = {dtype, std::move(shape), bytes};
  }
  void drop(const std::string& name) { tensors_.erase(name); }
  void write(const TempDirectory& directory, const std::string& quantization) const {
    write_text(directory / "config.json",
               R"({"model_type": "llama", "quantization_config": )" + quantization + "}");
    write_safetensors(directory / "model.safetensors", tensors_);
  }

 private:
  std::map<std::string, std::vector<std::byte>> bytes_;
  NamedTensors tensors_;
};

/// A matrix of codes, with a scale and a zero for each group of a row.
struct Grid {
  uint64_t rows, columns, group;
  uint32_t bits;
  std::vector<uint32_t> codes;    // [rows, columns]
  std::vector<uint32_t> zeros;    // [rows, groups]
  std::vector<uint16_t> scales;   // [rows, groups], f16
  std::vector<uint32_t> order{};  // groups of columns, or empty

  uint64_t groups() const { return columns / group; }
  uint32_t code(uint64_t row, uint64_t k) const { return codes[row * columns + k]; }
  float value(uint64_t row, uint64_t k) const {
    const uint64_t g = row * groups() + (order.empty() ? k / group : order[k]);
    return f32_from_f16(scales[g]) *
           static_cast<float>(static_cast<int>(code(row, k)) - static_cast<int>(zeros[g]));
  }
};

Grid make_grid(uint64_t rows, uint64_t columns, uint64_t group, uint32_t bits, bool symmetric) {
  Grid grid{rows, columns, group, bits, {}, {}, {}};
  uint32_t state = 7;
  const auto next = [&](uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  for (uint64_t i = 0; i < rows * columns; ++i) grid.codes.push_back(next(1u << bits));
  for (uint64_t i = 0; i < rows * grid.groups(); ++i) {
    grid.zeros.push_back(symmetric ? 1u << (bits - 1) : 1 + next((1u << bits) - 1));
    grid.scales.push_back(f16_from_f32(0.001f + 0.0001f * static_cast<float>(next(100))));
  }
  return grid;
}

/// Words of codes `code(i)`, `count` of them, from the lowest bits on.
template <class Code>
uint32_t word_of(uint32_t bits, Code code) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < 32 / bits; ++i) word |= code(i) << (i * bits);
  return word;
}

void add_gptq(Checkpoint& to, const Grid& grid, uint32_t less) {
  const uint64_t codes = 32 / grid.bits;
  std::vector<uint32_t> weight, zeros;
  std::vector<uint16_t> scales;
  std::vector<int32_t> index;
  for (uint64_t i = 0; i < grid.columns / codes; ++i) {
    for (uint64_t row = 0; row < grid.rows; ++row)
      weight.push_back(word_of(grid.bits, [&](uint32_t j) { return grid.code(row, i * codes + j); }));
  }
  for (uint64_t g = 0; g < grid.groups(); ++g) {
    for (uint64_t row = 0; row < grid.rows; row += codes)
      zeros.push_back(
          word_of(grid.bits, [&](uint32_t j) { return grid.zeros[(row + j) * grid.groups() + g] - less; }));
    for (uint64_t row = 0; row < grid.rows; ++row) scales.push_back(grid.scales[row * grid.groups() + g]);
  }
  for (uint64_t k = 0; k < grid.columns; ++k)
    index.push_back(static_cast<int32_t>(grid.order.empty() ? k / grid.group : grid.order[k]));
  to.add("a.qweight", "I32", {grid.columns / codes, grid.rows}, weight);
  to.add("a.qzeros", "I32", {grid.groups(), grid.rows / codes}, zeros);
  to.add("a.scales", "F16", {grid.groups(), grid.rows}, scales);
  to.add("a.g_idx", "I32", {grid.columns}, index);
}

void add_awq(Checkpoint& to, const Grid& grid) {
  constexpr uint32_t kOrder[] = {0, 2, 4, 6, 1, 3, 5, 7};
  std::vector<uint32_t> weight, zeros;
  std::vector<uint16_t> scales;
  for (uint64_t k = 0; k < grid.columns; ++k) {
    for (uint64_t row = 0; row < grid.rows; row += 8)
      weight.push_back(word_of(4, [&](uint32_t j) { return grid.code(row + kOrder[j], k); }));
  }
  for (uint64_t g = 0; g < grid.groups(); ++g) {
    for (uint64_t row = 0; row < grid.rows; row += 8)
      zeros.push_back(
          word_of(4, [&](uint32_t j) { return grid.zeros[(row + kOrder[j]) * grid.groups() + g]; }));
    for (uint64_t row = 0; row < grid.rows; ++row) scales.push_back(grid.scales[row * grid.groups() + g]);
  }
  to.add("a.qweight", "I32", {grid.columns, grid.rows / 8}, weight);
  to.add("a.qzeros", "I32", {grid.groups(), grid.rows / 8}, zeros);
  to.add("a.scales", "F16", {grid.groups(), grid.rows}, scales);
}

void add_pack_quantized(Checkpoint& to, const Grid& grid, bool zero_points) {
  const uint64_t codes = 32 / grid.bits;
  std::vector<uint32_t> weight, zeros;
  for (uint64_t row = 0; row < grid.rows; ++row) {
    for (uint64_t k = 0; k < grid.columns; k += codes)
      weight.push_back(word_of(grid.bits, [&](uint32_t j) { return grid.code(row, k + j); }));
  }
  for (uint64_t row = 0; row < grid.rows; row += codes) {
    for (uint64_t g = 0; g < grid.groups(); ++g)
      zeros.push_back(
          word_of(grid.bits, [&](uint32_t j) { return grid.zeros[(row + j) * grid.groups() + g]; }));
  }
  to.add("a.weight_packed", "I32", {grid.rows, grid.columns / codes}, weight);
  to.add("a.weight_shape", "I64", {2}, std::vector<uint64_t>{grid.rows, grid.columns});
  to.add("a.weight_scale", "F16", {grid.rows, grid.groups()}, grid.scales);
  if (zero_points) to.add("a.weight_zero_point", "I32", {grid.rows / codes, grid.groups()}, zeros);
}

std::string compressed(const std::string& format, const std::string& weights,
                       const std::string& activations = "null") {
  return fmt::format(
      R"({{"quant_method": "compressed-tensors", "format": "{}", "quantization_status": "compressed",
          "ignore": ["lm_head"], "kv_cache_scheme": null, "config_groups": {{"group_0": {{
          "targets": ["Linear"], "output_activations": null, "input_activations": {}, "weights": {}}}}}}})",
      format, activations, weights);
}

/// Fails unless a.weight has the grid's values, and in the type that holds them exactly too.
void check_values(const Source& source, const Grid& grid, SourceType type) {
  const SourceTensor& tensor = source.tensors.at("a.weight");
  TEST_ASSERT_EQUAL_STRING(source_type_name(type), source_type_name(tensor.type));
  TEST_ASSERT_EQUAL_UINT64(1, source.tensors.size());
  TEST_ASSERT_TRUE(tensor.shape == std::vector<uint64_t>({grid.rows, grid.columns}));
  std::vector<float> row(grid.columns);
  for (uint64_t r = 0; r < grid.rows; ++r) {
    std::vector<float> expected;
    for (uint64_t k = 0; k < grid.columns; ++k) expected.push_back(grid.value(r, k));
    read_row(tensor, r, row);
    TEST_ASSERT_TRUE(row == expected);
    const DType dtype = own_type(type);
    TEST_ASSERT_TRUE(is_exact(tensor, dtype) == (type != SourceType::packed));
    if (type == SourceType::packed) continue;
    EncodedRow encoded;
    read_exact_row(tensor, r, encoded.quant);
    quantizer(dtype).decode(encoded, row);
    TEST_ASSERT_TRUE(row == expected);
  }
}

std::string refusal(const TempDirectory& directory) {
  return message_of<Error>([&] { read_hf_directory(directory.path()); });
}

const char* const kGptq =
    R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": false, "sym": true})";

}  // namespace

TEST("packed: GPTQ's integers and scales are kept, in 4 bits where zeros are in the middle, else in 8") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  Grid grid = make_grid(16, 64, 32, 4, true);
  add_gptq(checkpoint, grid, 1);
  checkpoint.write(directory, kGptq);
  check_values(read_hf_directory(directory.path()), grid, SourceType::int4);
  grid = make_grid(16, 64, 32, 4, false);
  add_gptq(checkpoint, grid, 0);
  checkpoint.write(
      directory, R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq_v2"})");
  check_values(read_hf_directory(directory.path()), grid, SourceType::int8);
  for (const uint32_t bits : {2u, 8u}) {
    grid = make_grid(16, 64, 64, bits, true);
    add_gptq(checkpoint, grid, 1);
    checkpoint.write(directory,
                     fmt::format(R"({{"quant_method": "gptq", "bits": {}, "group_size": -1}})", bits));
    check_values(read_hf_directory(directory.path()), grid, bits == 2 ? SourceType::int4 : SourceType::int8);
  }
}

TEST("packed: GPTQ's columns in the order of their activations have numbers that no type holds") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  Grid grid = make_grid(16, 64, 32, 4, true);
  for (uint32_t k = 0; k < 64; ++k) grid.order.push_back(k * 7 % 2);
  add_gptq(checkpoint, grid, 1);
  checkpoint.write(directory, kGptq);
  const Source source = read_hf_directory(directory.path());
  check_values(source, grid, SourceType::packed);
  const TypePolicy own("", source, false), q8("q8", source, false);
  TEST_ASSERT_TRUE(
      contains(message_of<Error>([&] { own.dtype(Role::matrix, source.tensors.at("a.weight")); }), "--type"));
  TEST_ASSERT_TRUE(q8.dtype(Role::matrix, source.tensors.at("a.weight")) == DType::q8g32);
}

TEST("packed: AWQ's outputs are put in order, its zeros kept in 8 bits") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  const Grid grid = make_grid(16, 64, 32, 4, false);
  add_awq(checkpoint, grid);
  const std::string config =
      R"({"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": true, "version": )";
  checkpoint.write(directory, config + R"("gemm"})");
  check_values(read_hf_directory(directory.path()), grid, SourceType::int8);
  checkpoint.write(directory, config + R"("gemv_fast"})");
  TEST_ASSERT_TRUE(contains(refusal(directory), "quantization_config.version \"gemv_fast\" is not read"));
}

TEST("packed: AWQ's gemv has rows of outputs, and more room for zeros and scales than groups") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  const Grid grid = make_grid(16, 64, 32, 4, false);
  std::vector<uint32_t> weight, zeros;
  std::vector<uint16_t> scales;
  for (uint64_t row = 0; row < grid.rows; ++row) {
    for (uint64_t k = 0; k < grid.columns; k += 8)
      weight.push_back(word_of(4, [&](uint32_t j) { return grid.code(row, k + j); }));
    for (uint64_t first = 0; first < 32; first += 8)
      zeros.push_back(word_of(4, [&](uint32_t j) {
        return first + j < grid.groups() ? grid.zeros[row * grid.groups() + first + j] : 0u;
      }));
    for (uint64_t g = 0; g < 32; ++g)
      scales.push_back(g < grid.groups() ? grid.scales[row * grid.groups() + g] : uint16_t{0});
  }
  checkpoint.add("a.qweight", "I32", {grid.rows, grid.columns / 8}, weight);
  checkpoint.add("a.qzeros", "I32", {grid.rows, 4}, zeros);
  checkpoint.add("a.scales", "F16", {grid.rows, 32}, scales);
  const char config[] = R"({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "GEMV"})";
  checkpoint.write(directory, config);
  check_values(read_hf_directory(directory.path()), grid, SourceType::int8);
  checkpoint.add("a.qzeros", "I32", {grid.rows, 0}, std::vector<uint32_t>{});
  checkpoint.write(directory, config);
  TEST_ASSERT_TRUE(contains(refusal(directory), "a.qzeros has 0 zeros for a row, its weight implies 2"));
}

TEST("packed: compressed-tensors' packed integers of 4 and 8 bits, with zero points and without") {
  const TempDirectory directory;
  for (const uint32_t bits : {4u, 8u}) {
    for (const bool symmetric : {true, false}) {
      Checkpoint checkpoint;
      const Grid grid = make_grid(16, 64, 32, bits, symmetric);
      add_pack_quantized(checkpoint, grid, !symmetric);
      checkpoint.write(directory, compressed("pack-quantized", fmt::format(R"({{"num_bits": {}, "type": "int",
          "strategy": "group", "group_size": 32, "symmetric": {}}})",
                                                                           bits, symmetric)));
      const SourceType type = bits == 8   ? symmetric ? SourceType::int8 : SourceType::packed
                              : symmetric ? SourceType::int4
                                          : SourceType::int8;
      check_values(read_hf_directory(directory.path()), grid, type);
    }
  }
}

TEST("packed: bytes with a scale for each row are q8c's, whatever the scale") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  std::vector<int8_t> bytes;
  for (int i = 0; i < 3 * 40; ++i) bytes.push_back(static_cast<int8_t>(i * 37 % 256 - 128));
  const std::vector<float> scales = {0.1f, 1e-7f, 300.0f};
  checkpoint.add("a.weight", "I8", {3, 40}, bytes);
  checkpoint.add("a.weight_scale", "F32", {3, 1}, scales);
  const std::string weights = R"({"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": true})";
  const std::string rows = R"({"num_bits": 8, "type": "int", "strategy": "token", "dynamic": true})";
  checkpoint.write(directory, compressed("int-quantized", weights, rows));
  const Source source = read_hf_directory(directory.path());
  const SourceTensor& tensor = source.tensors.at("a.weight");
  TEST_ASSERT_TRUE(own_type(tensor.type) == DType::q8c);
  std::vector<float> row(40);
  EncodedRow encoded;
  read_exact_row(tensor, 2, encoded.quant);
  quantizer(DType::q8c).decode(encoded, row);
  for (size_t k = 0; k < 40; ++k) TEST_ASSERT_TRUE(row[k] == 300.0f * static_cast<float>(bytes[80 + k]));
}

TEST("packed: FP8 is its 256 numbers times a scale of a row or of a block") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  std::vector<uint8_t> codes;
  for (uint32_t i = 0; i < 4 * 64; ++i) codes.push_back(static_cast<uint8_t>(i % 128 == 127 ? 0 : i));
  checkpoint.add("a.weight", "F8_E4M3", {4, 64}, codes);
  checkpoint.add("a.weight_scale_inv", "F32", {2, 2}, std::vector<float>{0.5f, 2.0f, 0.1f, 1.0f});
  checkpoint.write(directory, R"({"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                                 "weight_block_size": [3, 48]})");
  std::vector<float> row(64);
  {
    const Source source = read_hf_directory(directory.path());
    read_row(source.tensors.at("a.weight"), 0, row);
    TEST_ASSERT_TRUE(row[1] == 0.5f * 0x1p-9f);  // the smallest
    TEST_ASSERT_TRUE(row[8] == 0.5f * 0x1p-6f);  // the smallest normal one
    TEST_ASSERT_TRUE(row[60] == 2.0f * 1.5f);    // 0 0111 100, of the second block
    read_row(source.tensors.at("a.weight"), 1, row);
    TEST_ASSERT_TRUE(row[62] == 2.0f * 448.0f);  // the largest
    read_row(source.tensors.at("a.weight"), 3, row);
    TEST_ASSERT_TRUE(row[0] == 0.1f * -2.0f);  // 1 1000 000, of the second row of blocks
  }
  checkpoint.drop("a.weight_scale_inv");
  checkpoint.add("a.weight_scale", "BF16", {4, 1}, std::vector<uint16_t>{0x3F80, 0x4000, 0x3F80, 0x3F80});
  checkpoint.write(
      directory, compressed("float-quantized", R"({"num_bits": 8, "type": "float", "strategy": "channel"})"));
  const Source source = read_hf_directory(directory.path());
  read_row(source.tensors.at("a.weight"), 1, row);
  TEST_ASSERT_TRUE(row[62] == 2.0f * 448.0f);
  TEST_ASSERT_TRUE(own_type(source.tensors.at("a.weight").type) == DType::f32);
}

TEST("packed: settings that are not read are refused by their key, tensors by their name") {
  const TempDirectory directory;
  Checkpoint checkpoint;
  const Grid grid = make_grid(16, 64, 32, 4, true);
  add_gptq(checkpoint, grid, 1);
  const auto refused = [&](const std::string& config, const std::string& text) {
    checkpoint.write(directory, config);
    const std::string message = refusal(directory);
    CAPTURE(message);
    TEST_ASSERT_TRUE(contains(message, text));
  };
  refused(R"({"quant_method": "quanto", "weights": "int8"})", "quant_method \"quanto\" is not read");
  checkpoint.add("a.weight.absmax", "F32", {1}, std::vector<float>{1.0f});
  refused(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})", "a.weight.absmax is of a matrix");
  checkpoint.drop("a.weight.absmax");
  refused(R"({"quant_method": "gptq", "bits": 3, "group_size": 32})", "quantization_config.bits 3");
  refused(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "wonder": 1})",
          "quantization_config.wonder 1");
  refused(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "dynamic": {"x": 1}})", "dynamic");
  refused(R"({"quant_method": "gptq", "bits": 4, "group_size": 16})", "a.qzeros has shape");
  refused(compressed("pack-quantized",
                     R"({"num_bits": 4, "type": "int", "strategy": "tensor_group", "group_size": 32})"),
          "quantization_config.weights.strategy");
  refused(compressed("nvfp4-pack-quantized", R"({"num_bits": 4})"), "format");
  checkpoint.drop("a.scales");
  refused(kGptq, "tensor a.scales is missing");
  add_gptq(checkpoint, grid, 9);  // a stored zero of 15 is 16 to some tools and 0 to others
  refused(kGptq, "a.qzeros holds 15");
}

TEST("packed: a llama whose matrices are GPTQ's is converted without a rounding") {
  const TempDirectory directory;
  TinyLlama model;
  Checkpoint checkpoint;
  for (auto& [name, tensor] : model.tensors) {
    if (!name.ends_with("_proj.weight")) {
      checkpoint.add(name, "F32", tensor.shape, tensor.values);
      continue;
    }
    const Grid grid = make_grid(tensor.shape[0], tensor.shape[1], tensor.shape[1], 4, true);
    std::vector<uint32_t> words, zeros(grid.rows / 8, 0x77777777u);
    for (uint64_t i = 0; i < grid.columns / 8; ++i) {
      for (uint64_t row = 0; row < grid.rows; ++row)
        words.push_back(word_of(4, [&](uint32_t j) { return grid.code(row, i * 8 + j); }));
    }
    const std::string prefix = name.substr(0, name.size() - 7);
    checkpoint.add(prefix + ".qweight", "I32", {grid.columns / 8, grid.rows}, words);
    checkpoint.add(prefix + ".qzeros", "I32", {1, grid.rows / 8}, zeros);
    checkpoint.add(prefix + ".scales", "F16", {1, grid.rows}, grid.scales);
  }
  checkpoint.write(directory, "{}");
  model.config["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", -1}};
  write_text(directory / "config.json", model.config.dump());
  const ConvertReport report = mote::convert::convert(directory.path(), directory / "model.mote", {});
  size_t matrices = 0;
  for (const TensorReport& tensor : report.tensors) {
    if (tensor.name.find("layer") == std::string::npos || tensor.rows == 1) continue;
    CAPTURE(tensor.name);
    TEST_ASSERT_EQUAL_STRING("q4g32", tensor.type);
    TEST_ASSERT_TRUE(tensor.relative_error == 0);
    ++matrices;
  }
  TEST_ASSERT_EQUAL_UINT64(8, matrices);
}
