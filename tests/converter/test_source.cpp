// SPDX-License-Identifier: Apache-2.0
#include "converter/source.h"

#include <set>

#include "converter/readers/ggml_blocks.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "schema/f16.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

SourceTensor view(SourceType type, std::vector<uint64_t> shape, std::span<const std::byte> bytes) {
  return {type, std::move(shape), bytes.data(), bytes.size()};
}

SafetensorsFile fixture() {
  return SafetensorsFile(std::string(MOTE_SOURCE_DIR) + "/tests/converter/data/ggml_blocks.safetensors");
}

std::vector<float> row_of(const SourceTensor& tensor, uint64_t row) {
  std::vector<float> values(tensor.cols());
  read_row(tensor, row, values);
  return values;
}

std::string source_error(const std::filesystem::path& path) {
  return message_of<Error>([&] { read_source(path); });
}

}  // namespace

TEST("source: every ggml type gives ggml's values bit for bit") {
  const SafetensorsFile file = fixture();
  for (const SourceType type :
       {SourceType::f16, SourceType::bf16, SourceType::q8_0, SourceType::q4_0, SourceType::q4_1,
        SourceType::q5_0, SourceType::q5_1, SourceType::q2_k, SourceType::q3_k, SourceType::q4_k,
        SourceType::q5_k, SourceType::q6_k, SourceType::iq4_nl, SourceType::mxfp4}) {
    const std::string name = source_type_name(type);
    CAPTURE(name);
    const auto expected = file.f32(name + ".values");
    const uint64_t blocks = file.shape(name + ".blocks")[0];
    TEST_ASSERT_EQUAL_UINT64(blocks * block_layout(type).elements, expected.size());
    // Two rows where there are several blocks, so that the row's stride counts.
    const uint64_t rows = blocks % 2 == 0 ? 2 : 1;
    const auto tensor = view(type, {rows, expected.size() / rows}, file.tensors().at(name + ".blocks").bytes);
    for (uint64_t row = 0; row < rows; ++row) {
      const auto values = row_of(tensor, row);
      TEST_ASSERT_EQUAL_MEMORY(expected.data() + row * values.size(), values.data(), values.size() * 4);
    }
  }
}

TEST("source: exact rows are the dequantized values") {
  const SafetensorsFile file = fixture();
  for (const SourceType type : {SourceType::q8_0, SourceType::q4_0, SourceType::q4_1}) {
    const std::string name = source_type_name(type);
    CAPTURE(name);
    const auto expected = file.f32(name + ".values");
    QuantRow row;
    read_exact_row(view(type, {1, expected.size()}, file.tensors().at(name + ".blocks").bytes), 0, row);
    TEST_ASSERT_EQUAL_UINT64(expected.size(), row.q.size());
    TEST_ASSERT_EQUAL_UINT64(type == SourceType::q4_1 ? row.scale.size() : 0, row.minimum.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      float value = mote::f32_from_f16(row.scale[k / 32]) * static_cast<float>(row.q[k]);
      if (!row.minimum.empty()) value += mote::f32_from_f16(row.minimum[k / 32]);
      TEST_ASSERT_TRUE(mote::bits_from_f32(value) == mote::bits_from_f32(expected[k]));
    }
  }
  TEST_ASSERT_FALSE(has_exact_type(SourceType::q5_0));
  TEST_ASSERT_FALSE(has_exact_type(SourceType::f16));
}

TEST("source: rows and columns of every number of dimensions") {
  const std::vector<float> values(24);
  const auto bytes = std::as_bytes(std::span(values));
  TEST_ASSERT_EQUAL_UINT64(1, view(SourceType::f32, {}, bytes).rows());
  TEST_ASSERT_EQUAL_UINT64(1, view(SourceType::f32, {}, bytes).cols());
  TEST_ASSERT_EQUAL_UINT64(1, view(SourceType::f32, {24}, bytes).rows());
  TEST_ASSERT_EQUAL_UINT64(24, view(SourceType::f32, {24}, bytes).cols());
  TEST_ASSERT_EQUAL_UINT64(6, view(SourceType::f32, {2, 3, 4}, bytes).rows());
  TEST_ASSERT_EQUAL_UINT64(4, view(SourceType::f32, {2, 3, 4}, bytes).cols());
}

TEST("source: interleaved heads are read in halves, matrices and biases alike") {
  // Two heads of four rows; the file has the pairs (0, 2), (1, 3) of each head side by side.
  const std::vector<float> stored{0, 2, 1, 3, 10, 12, 11, 13};
  const std::vector<float> expected{0, 1, 2, 3, 10, 11, 12, 13};
  SourceTensor matrix = view(SourceType::f32, {8, 1}, std::as_bytes(std::span(stored)));
  matrix.interleaved_heads = 2;
  for (uint64_t row = 0; row < 8; ++row) TEST_ASSERT_TRUE(row_of(matrix, row)[0] == expected[row]);
  SourceTensor bias = view(SourceType::f32, {8}, std::as_bytes(std::span(stored)));
  bias.interleaved_heads = 2;
  TEST_ASSERT_TRUE(row_of(bias, 0) == expected);
}

TEST("source: exact rows undo interleaved heads") {
  const SafetensorsFile file = fixture();  // five blocks of Q4_0: the first four as rows of one head
  const auto blocks = file.tensors().at("Q4_0.blocks").bytes.first(4 * 18);
  SourceTensor tensor = view(SourceType::q4_0, {4, 32}, blocks);
  std::vector<QuantRow> stored(4);
  for (uint64_t row = 0; row < 4; ++row) read_exact_row(tensor, row, stored[row]);
  tensor.interleaved_heads = 1;
  const size_t file_row[] = {0, 2, 1, 3};
  for (uint64_t row = 0; row < 4; ++row) {
    QuantRow exact;
    read_exact_row(tensor, row, exact);
    TEST_ASSERT_TRUE(exact.q == stored[file_row[row]].q);
    TEST_ASSERT_TRUE(exact.scale == stored[file_row[row]].scale);
  }
}

TEST("source: what is no model is refused with what to do") {
  const TempDirectory directory;
  TEST_ASSERT_TRUE(contains(source_error(directory / "none"), "none: No such file or directory"));
  write_text(directory / "empty", "");
  TEST_ASSERT_TRUE(contains(source_error(directory / "empty"), "is empty"));
  write_text(directory / "text", "a text that is not a model, and long enough to hold a header");
  TEST_ASSERT_TRUE(contains(source_error(directory / "text"), "expected a directory with config.json"));
  write_text(directory / "model.pt", "PK\x03\x04 and so on");
  TEST_ASSERT_TRUE(contains(source_error(directory / "model.pt"), "PyTorch checkpoint"));
  const std::vector<float> one{1.0f};
  write_safetensors(directory / "m.safetensors", {{"x", f32_tensor({1}, one)}});
  TEST_ASSERT_TRUE(contains(source_error(directory / "m.safetensors"), "give the directory"));
  TEST_ASSERT_TRUE(contains(source_error("/dev/null"), "not a regular file"));
}
