// SPDX-License-Identifier: Apache-2.0
//
// q4k, q5k and q6k from a row to its panel: looked up by the reference kernels, ggml's blocks and what the
// quantizers made come back to the bit.
#include <algorithm>
#include <cstring>

#include "converter/packers/p16.h"
#include "converter/readers/ggml_blocks.h"
#include "converter/readers/safetensors.h"
#include "kernels/dispatch.h"
#include "tests/support/aligned_bytes.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;

namespace {

struct WideType {
  SourceType source;
  DType dtype;
  uint64_t block_bytes;
};
constexpr WideType kTypes[] = {{SourceType::q4_k, DType::q4k, 144},
                               {SourceType::q5_k, DType::q5k, 176},
                               {SourceType::q6_k, DType::q6k, 210}};

/// Every row of a packed panel, as the embedding looks it up.
std::vector<std::vector<float>> look_up(DType dtype, uint32_t cols, const std::vector<EncodedRow>& rows) {
  ::test::AlignedBytes panel(panel_bytes(dtype, cols));
  std::memset(panel.data(), 0xEE, panel.size());
  pack_panel(dtype, cols, rows, std::span(reinterpret_cast<std::byte*>(panel.data()), panel.size()));
  std::vector<std::vector<float>> values(kPanelRows, std::vector<float>(cols));
  const KernelEntry* kernel = find_kernel(Op::kEmbed, DType::f32, dtype, Isa::kRef);
  for (int32_t row = 0; row < static_cast<int32_t>(kPanelRows); ++row) {
    const Rows out = {values[static_cast<size_t>(row)].data(), cols * sizeof(float)};
    kernel_cast<EmbedArgs>(kernel)({panel.data(), cols, false, &row, out}, {0, 1}, nullptr);
  }
  return values;
}

bool same_bits(const std::vector<float>& a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> varied_row(size_t columns, uint64_t seed) {
  std::vector<float> row(columns);
  for (size_t k = 0; k < columns; ++k) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const float size = k / 32 % 3 == 0 ? 1.0f : k / 32 % 3 == 1 ? 0.01f : 30.0f;
    row[k] = size * (static_cast<float>(seed >> 40) / 0x1p23f - 1.0f);
  }
  return row;
}

}  // namespace

TEST("wide types: ggml's blocks are looked up with gguf-py's bits") {
  const SafetensorsFile file(std::string(MOTE_SOURCE_DIR) + "/tests/converter/data/ggml_blocks.safetensors");
  for (const WideType& type : kTypes) {
    const std::string name = source_type_name(type.source);
    CAPTURE(name);
    const std::vector<float> expected = file.f32(name + ".values");
    const auto blocks = file.tensors().at(name + ".blocks").bytes;
    std::vector<EncodedRow> rows(kPanelRows);
    // All blocks one behind the other, but for row 3, which has the last one first.
    for (EncodedRow& row : rows) read_exact_blocks(type.source, blocks.data(), expected.size(), row.quant);
    std::vector<std::byte> turned(blocks.begin(), blocks.end());
    std::rotate(turned.begin(), turned.begin() + static_cast<ptrdiff_t>(type.block_bytes), turned.end());
    read_exact_blocks(type.source, turned.data(), expected.size(), rows[3].quant);
    std::vector<float> turned_values = expected;
    std::rotate(turned_values.begin(), turned_values.begin() + 256, turned_values.end());
    const auto values = look_up(type.dtype, static_cast<uint32_t>(expected.size()), rows);
    for (size_t r = 0; r < kPanelRows; ++r)
      TEST_ASSERT_TRUE(same_bits(values[r], r == 3 ? turned_values : expected));
  }
}

TEST("wide types: a panel has what its rows were encoded as, at every width, padding 0") {
  for (const WideType& type : kTypes) {
    for (const uint32_t cols : {1u, 36u, 64u, 100u, 255u, 256u, 257u, 576u}) {
      CAPTURE(cols);
      std::vector<EncodedRow> rows(5);
      std::vector<std::vector<float>> expected(kPanelRows, std::vector<float>(cols));
      for (size_t r = 0; r < rows.size(); ++r) {
        quantizer(type.dtype).encode(varied_row(cols, r + cols), rows[r]);
        quantizer(type.dtype).decode(rows[r], expected[r]);
      }
      const auto values = look_up(type.dtype, cols, rows);
      for (size_t r = 0; r < kPanelRows; ++r) TEST_ASSERT_TRUE(same_bits(values[r], expected[r]));
    }
  }
}

TEST("wide types: a panel takes the bytes of ggml's blocks, at most 1 % more") {
  for (const WideType& type : kTypes) {
    const uint64_t blocks = kPanelRows * type.block_bytes;
    TEST_ASSERT_LESS_OR_EQUAL(blocks * 101 / 100, panel_bytes(type.dtype, 256));
    TEST_ASSERT_EQUAL_UINT64(8 * panel_bytes(type.dtype, 256), panel_bytes(type.dtype, 2048));
  }
  TEST_ASSERT_EQUAL_UINT64(2 * 2304 + 256 + 2 * 256, panel_bytes(DType::q4k, 576));
}
