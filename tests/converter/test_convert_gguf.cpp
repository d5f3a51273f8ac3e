// SPDX-License-Identifier: Apache-2.0
//
// A GGUF's own numbers arrive unchanged: panels, decoded here from byte offsets, equal the reader's rows bit
// for bit.
#include <cstring>

#include "converter/convert.h"
#include "converter/source.h"
#include "host/base/error.h"
#include "schema/block_formats.h"
#include "schema/f16.h"
#include "schema/mote_generated.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

enum GgmlType : uint32_t { kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8 };

class Bytes {
 public:
  uint8_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint8_t>(state_ >> 56);
  }
  /// A half from 1/64 to 1/32, of either sign.
  std::string half() { return raw(static_cast<uint16_t>(0x2400 + next() + (next() % 2 == 0 ? 0x8000 : 0))); }
  std::string block(uint32_t type) {
    std::string bytes = half();
    if (type == kQ4_1) bytes += half();
    const size_t quants = type == kQ8_0 ? 32 : 16;
    for (size_t i = 0; i < quants; ++i) bytes += static_cast<char>(next());
    return bytes;
  }
  std::string matrix(uint32_t type, uint64_t rows, uint64_t cols) {
    std::string bytes;
    for (uint64_t i = 0; i < rows * cols / 32; ++i) {
      if (type == kF16) {
        for (int k = 0; k < 32; ++k) bytes += half();
      } else {
        bytes += block(type);
      }
    }
    return bytes;
  }
  static std::string ones(uint64_t count) {
    std::string bytes;
    for (uint64_t i = 0; i < count; ++i) bytes += raw(1.0f);
    return bytes;
  }

 private:
  uint64_t state_ = 5;
};

/// A llama of one layer: width 64, 2 heads over 1, feed-forward 96, tied.
GgufBuilder tiny_gguf(uint32_t q_type, uint32_t v_type) {
  Bytes bytes;
  GgufBuilder builder = one_layer_llama(64, 96);
  const auto matrix = [&](const char* name, uint32_t type, uint64_t rows, uint64_t cols) {
    builder.tensor(name, {cols, rows}, type, bytes.matrix(type, rows, cols));
  };
  matrix("token_embd.weight", kQ8_0, 20, 64);
  builder.tensor("output_norm.weight", {64}, kF32, Bytes::ones(64));
  builder.tensor("blk.0.attn_norm.weight", {64}, kF32, Bytes::ones(64));
  builder.tensor("blk.0.ffn_norm.weight", {64}, kF32, Bytes::ones(64));
  matrix("blk.0.attn_q.weight", q_type, 64, 64);
  matrix("blk.0.attn_k.weight", q_type, 32, 64);
  matrix("blk.0.attn_v.weight", v_type, 32, 64);
  matrix("blk.0.attn_output.weight", kQ4_0, 64, 64);
  matrix("blk.0.ffn_gate.weight", kQ4_1, 96, 64);
  matrix("blk.0.ffn_up.weight", kQ4_1, 96, 64);
  matrix("blk.0.ffn_down.weight", kQ8_0, 64, 96);
  return builder;
}

float half_at(const uint8_t* bytes) { return f32_from_f16(static_cast<uint16_t>(bytes[0] | bytes[1] << 8)); }

/// Element [n, k] of packed quantized weights.
float packed_value(DType dtype, const uint8_t* data, uint64_t cols, uint64_t n, uint64_t k) {
  const size_t header = dtype == DType::q4mg32 ? 128 : 64;
  const size_t cell_bytes = header + (dtype == DType::q8g32 ? 1024 : 512);
  const uint8_t* cell = data + (n / 16 * ((cols + 63) / 64) + k / 64) * cell_bytes;
  const size_t r = n % 16;
  const size_t group = k / 32 % 2;
  const size_t column = k % 32;
  const float scale = half_at(cell + 32 * group + 2 * r);
  if (dtype == DType::q8g32) {
    return scale * static_cast<float>(static_cast<int8_t>(
                       cell[header + 512 * group + 64 * (column / 4) + 4 * r + column % 4]));
  }
  const uint8_t byte = cell[header + 256 * group + 64 * (column / 8) + 4 * r + column % 4];
  const float nibble = static_cast<float>(column % 8 < 4 ? byte & 15 : byte >> 4);
  if (dtype == DType::q4g32) return scale * (nibble - 8.0f);
  return scale * nibble + half_at(cell + 64 + 32 * group + 2 * r);
}

/// Blocks of 256 columns: ggml's number, bytes, where their halves are, and the type that they become.
struct WideBlock {
  uint32_t type;
  uint64_t columns, bytes;
  std::vector<size_t> halves;
  const char* becomes;
  bool exact;
};
const WideBlock kQ5_0 = {6, 32, 22, {0}, "q6k", false}, kQ5_1 = {7, 32, 24, {0, 2}, "q6k", false},
                kQ2_K = {10, 256, 84, {80, 82}, "q4k", false}, kQ3_K = {11, 256, 110, {108}, "q4k", false},
                kQ4_K = {12, 256, 144, {0, 2}, "q4k", true}, kQ5_K = {13, 256, 176, {0, 2}, "q5k", true},
                kIq4Nl = {20, 32, 18, {0}, "q5k", false}, kMxfp4 = {39, 32, 17, {}, "q5k", false},
                kQ6_K = {14, 256, 210, {208}, "q6k", true};

/// A llama of one layer whose matrices are of one type: width 256, 2 heads over 1, feed-forward 512, tied.
GgufBuilder wide_gguf(const WideBlock& block) {
  Bytes bytes;
  GgufBuilder builder = one_layer_llama(256, 512);
  const auto matrix = [&](const char* name, uint64_t rows, uint64_t cols) {
    std::string data;
    for (uint64_t i = 0; i < rows * cols / block.columns; ++i) {
      std::string one;
      while (one.size() < block.bytes) one += static_cast<char>(bytes.next());
      for (const size_t half : block.halves) one.replace(half, 2, bytes.half());
      if (block.halves.empty()) one[0] = static_cast<char>(118 + bytes.next() % 8);  // an exponent
      data += one;
    }
    builder.tensor(name, {cols, rows}, block.type, data);
  };
  matrix("token_embd.weight", 32, 256);
  builder.tensor("output_norm.weight", {256}, kF32, Bytes::ones(256));
  builder.tensor("blk.0.attn_norm.weight", {256}, kF32, Bytes::ones(256));
  builder.tensor("blk.0.ffn_norm.weight", {256}, kF32, Bytes::ones(256));
  matrix("blk.0.attn_q.weight", 256, 256);
  matrix("blk.0.attn_k.weight", 128, 256);
  matrix("blk.0.attn_v.weight", 128, 256);
  matrix("blk.0.attn_output.weight", 256, 256);
  matrix("blk.0.ffn_gate.weight", 512, 256);
  matrix("blk.0.ffn_up.weight", 512, 256);
  matrix("blk.0.ffn_down.weight", 256, 512);
  return builder;
}

class Converted {
 public:
  Converted(const GgufBuilder& builder, const std::string& type) {
    write_text(directory_ / "in.gguf", builder.bytes());
    report = convert::convert(directory_ / "in.gguf", directory_ / "out.mote", {type, {}});
    source = read_source(directory_ / "in.gguf");
    file_ = std::make_unique<MappedFile>(directory_ / "out.mote");
  }

  /// Rows from `first` of the file's tensor are the source's tensor.
  void check_equal(const std::string& name, uint64_t first, const std::string& source_name) const {
    const file::Model* root = file::GetSizePrefixedModel(file_->bytes().data());
    const auto* segment = reinterpret_cast<const uint8_t*>(file_->bytes().data() + file_->bytes().size()) -
                          root->segment_bytes();
    const SourceTensor& expected = source.tensors.at(source_name);
    for (const file::Tensor* tensor : *root->tensors()) {
      if (tensor->name()->str() != name) continue;
      std::vector<float> row(expected.cols());
      for (uint64_t n = 0; n < expected.rows(); ++n) {
        read_row(expected, n, row);
        for (uint64_t k = 0; k < row.size(); ++k) {
          const float value = packed_value(static_cast<DType>(tensor->dtype()), segment + tensor->offset(),
                                           row.size(), first + n, k);
          if (std::memcmp(&value, &row[k], 4) != 0) TEST_ASSERT_EQUAL_FLOAT(row[k], value);
        }
      }
      return;
    }
    TEST_FAIL_MESSAGE("no tensor " + name);
  }

  const TensorReport& of(const std::string& name) const {
    for (const TensorReport& tensor : report.tensors) {
      if (tensor.name == name) return tensor;
    }
    throw Error("no tensor " + name);
  }

  ConvertReport report;
  Source source;

 private:
  TempDirectory directory_;
  std::unique_ptr<MappedFile> file_;
};

}  // namespace

TEST("convert: Q8_0, Q4_0 and Q4_1 keep their numbers, interleaved heads put in order") {
  const std::string layer = "model.layers.0.";
  for (const uint32_t type : {kQ8_0, kQ4_0, kQ4_1}) {
    const Converted converted(tiny_gguf(type, type), "");
    TEST_ASSERT_EQUAL_STRING("as in the file", converted.report.type);
    for (const TensorReport& tensor : converted.report.tensors) TEST_ASSERT_EQUAL(0.0, tensor.relative_error);
    converted.check_equal("embedding", 0, "model.embed_tokens.weight");
    converted.check_equal("layer.0.q+k+v", 0, layer + "self_attn.q_proj.weight");
    converted.check_equal("layer.0.q+k+v", 64, layer + "self_attn.k_proj.weight");
    converted.check_equal("layer.0.q+k+v", 96, layer + "self_attn.v_proj.weight");
    converted.check_equal("layer.0.o", 0, layer + "self_attn.o_proj.weight");
    converted.check_equal("layer.0.gate+up", 96, layer + "mlp.up_proj.weight");
    converted.check_equal("layer.0.down", 0, layer + "mlp.down_proj.weight");
  }
}

TEST("convert: Q4_K, Q5_K and Q6_K keep their numbers and their size, others become the next larger type",
     "[values]") {
  for (const WideBlock& block : {kQ2_K, kQ3_K, kQ4_K, kQ5_0, kQ5_1, kQ5_K, kQ6_K, kIq4Nl, kMxfp4}) {
    const Converted converted(wide_gguf(block), "");
    CAPTURE(block.type);
    for (const TensorReport& tensor : converted.report.tensors) {
      if (tensor.rows == 1) continue;
      TEST_ASSERT_EQUAL_STRING(block.becomes, tensor.type);
      if (!block.exact) {
        TEST_ASSERT_GREATER_THAN(0.0, tensor.relative_error);
        continue;
      }
      TEST_ASSERT_EQUAL(0.0, tensor.relative_error);
      const uint64_t bytes = tensor.rows * tensor.cols / block.columns * block.bytes;
      TEST_ASSERT_LESS_OR_EQUAL(bytes + bytes / 100, tensor.bytes);
    }
  }
}

TEST("convert: q, k and v of different types run as several linears") {
  const Converted converted(tiny_gguf(kQ4_0, kF16), "");
  converted.check_equal("layer.0.q+k", 64, "model.layers.0.self_attn.k_proj.weight");
  TEST_ASSERT_EQUAL_STRING("q4g32", converted.of("layer.0.q+k").type);
  TEST_ASSERT_EQUAL_STRING("f16", converted.of("layer.0.v").type);
}

TEST("convert: a uniform type that is the file's own is exact too, others are not") {
  const Converted same(tiny_gguf(kQ4_0, kQ4_0), "q4g32");
  same.check_equal("layer.0.q+k+v", 0, "model.layers.0.self_attn.q_proj.weight");
  const Converted other(tiny_gguf(kQ4_0, kQ4_0), "q4mg32");
  TEST_ASSERT_EQUAL_STRING("q4mg32", other.of("layer.0.q+k+v").type);
  TEST_ASSERT_GREATER_THAN(0.0, other.of("embedding").relative_error);
}

TEST("convert: a block whose scale is not finite is said by name") {
  const TempDirectory directory;
  std::string text = tiny_gguf(kQ4_0, kQ4_0).bytes();
  write_text(directory / "in.gguf", text);
  {
    const Source source = read_source(directory / "in.gguf");
    const std::byte* scale = source.tensors.at("model.layers.0.mlp.down_proj.weight").data + 34;
    text.replace(static_cast<size_t>(scale - source.files[0]->bytes().data()), 2, raw<uint16_t>(0x7E00));
  }
  write_text(directory / "in.gguf", text);
  const std::string message =
      message_of<Error>([&] { convert::convert(directory / "in.gguf", directory / "out.mote", {}); });
  TEST_ASSERT_TRUE(message.find("model.layers.0.mlp.down_proj.weight holds nan as a scale at [0, 32]") !=
                   std::string::npos);
}
