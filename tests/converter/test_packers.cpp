// SPDX-License-Identifier: Apache-2.0
//
// The layouts are computed here from byte offsets as their description has them, not from the structs.
#include "converter/packers/p16.h"

#include <cstring>

#include "schema/f16.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;

namespace {

/// Rows whose every number is distinct enough to be told apart.
std::vector<EncodedRow> numbered_rows(DType dtype, uint32_t rows, uint32_t cols) {
  std::vector<EncodedRow> encoded(rows);
  const uint32_t groups = (cols + 31) / 32;
  for (uint32_t r = 0; r < rows; ++r) {
    EncodedRow& row = encoded[r];
    for (uint32_t k = 0; k < cols; ++k) row.values.push_back(static_cast<float>(r * 64 + k % 61));
    row.quant.q.resize(groups * 32);
    const bool bytes = dtype == DType::q8g32 || dtype == DType::q8c;
    for (uint32_t k = 0; k < groups * 32; ++k) {
      const int mixed = static_cast<int>((k * 37 + r * 11) % 256);
      row.quant.q[k] =
          static_cast<int8_t>(bytes ? mixed - 128 : mixed % 16 - (dtype == DType::q4g32 ? 8 : 0));
    }
    if (dtype == DType::q8c) row.quant.q.resize(cols);
    row.quant.row_scale = 0.5f + static_cast<float>(r);
    for (uint32_t g = 0; g < groups; ++g) {
      row.quant.scale.push_back(static_cast<uint16_t>(1000 + 100 * r + g));
      if (dtype == DType::q4mg32) row.quant.minimum.push_back(static_cast<uint16_t>(5000 + 100 * r + g));
    }
  }
  return encoded;
}

std::vector<uint8_t> pack(DType dtype, uint32_t cols, const std::vector<EncodedRow>& rows) {
  std::vector<uint8_t> bytes(panel_bytes(dtype, cols), 0xEE);
  pack_panel(dtype, cols, rows, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

uint16_t half_at(const std::vector<uint8_t>& bytes, size_t offset) {
  return static_cast<uint16_t>(bytes[offset] | bytes[offset + 1] << 8);
}

int q_at(DType dtype, const std::vector<uint8_t>& bytes, uint32_t r, uint32_t k) {
  const size_t group = k / 32 % 2;
  const size_t column = k % 32;
  if (dtype == DType::q8g32) {
    const size_t cell = size_t{k / 64} * 1088;
    return static_cast<int8_t>(bytes[cell + 64 + 512 * group + 64 * (column / 4) + 4 * r + column % 4]);
  }
  const size_t header = dtype == DType::q4mg32 ? 128 : 64;
  const size_t cell = size_t{k / 64} * (header + 512);
  const uint8_t byte = bytes[cell + header + 256 * group + 64 * (column / 8) + 4 * r + column % 4];
  const int nibble = column % 8 < 4 ? byte & 15 : byte >> 4;
  return dtype == DType::q4g32 ? nibble - 8 : nibble;
}

void check_quantized(DType dtype, uint32_t rows, uint32_t cols) {
  const std::vector<EncodedRow> encoded = numbered_rows(dtype, rows, cols);
  const std::vector<uint8_t> bytes = pack(dtype, cols, encoded);
  const size_t cell_bytes = dtype == DType::q8g32 ? 1088 : dtype == DType::q4g32 ? 576 : 640;
  TEST_ASSERT_EQUAL_UINT64((cols + 63) / 64 * cell_bytes, bytes.size());
  for (uint32_t r = 0; r < 16; ++r) {
    for (uint32_t k = 0; k < (cols + 63) / 64 * 64; ++k) {
      const bool inside = r < rows && k < cols;
      const int expected = inside ? encoded[r].quant.q[k] : 0;
      if (q_at(dtype, bytes, r, k) != expected) TEST_ASSERT_EQUAL_INT(expected, q_at(dtype, bytes, r, k));
      const size_t scale = size_t{k / 64} * cell_bytes + 32 * (k / 32 % 2) + 2 * r;
      const bool group_inside = r < rows && k / 32 * 32 < cols;
      TEST_ASSERT_EQUAL_INT(group_inside ? 1000 + 100 * r + k / 32 : 0, half_at(bytes, scale));
      if (dtype == DType::q4mg32) {
        TEST_ASSERT_EQUAL_INT(group_inside ? 5000 + 100 * r + k / 32 : 0, half_at(bytes, scale + 64));
      }
    }
  }
}

}  // namespace

TEST("packers: quantized panels follow the layout, padding included") {
  for (const DType dtype : {DType::q8g32, DType::q4g32, DType::q4mg32}) {
    for (const uint32_t rows : {1u, 7u, 16u}) {
      for (const uint32_t cols : {1u, 32u, 36u, 60u, 64u, 65u, 96u, 160u}) check_quantized(dtype, rows, cols);
    }
  }
}

TEST("packers: q8c panels are 16 scales, then quads of columns, padding 0") {
  for (const uint32_t rows : {1u, 7u, 16u}) {
    for (const uint32_t cols : {1u, 32u, 36u, 60u, 64u, 65u, 96u, 160u}) {
      const std::vector<EncodedRow> encoded = numbered_rows(DType::q8c, rows, cols);
      const std::vector<uint8_t> bytes = pack(DType::q8c, cols, encoded);
      const uint32_t padded = (cols + 63) / 64 * 64;
      TEST_ASSERT_EQUAL_UINT64(64 + 16 * padded, bytes.size());
      for (uint32_t r = 0; r < 16; ++r) {
        float scale;
        std::memcpy(&scale, &bytes[4 * r], 4);
        TEST_ASSERT_EQUAL_FLOAT(r < rows ? 0.5f + static_cast<float>(r) : 0.0f, scale);
        for (uint32_t k = 0; k < padded; ++k) {
          const int expected = r < rows && k < cols ? encoded[r].quant.q[k] : 0;
          TEST_ASSERT_EQUAL_INT(expected, static_cast<int8_t>(bytes[64 + 64 * (k / 4) + 4 * r + k % 4]));
        }
      }
    }
  }
}

TEST("packers: f32 and f16 panels are [k][16], padding 0") {
  for (const uint32_t cols : {1u, 5u, 36u}) {
    const std::vector<EncodedRow> rows = numbered_rows(DType::f32, 5, cols);
    const std::vector<uint8_t> singles = pack(DType::f32, cols, rows);
    const std::vector<uint8_t> halves = pack(DType::f16, cols, rows);
    TEST_ASSERT_EQUAL_UINT64(0, halves.size() % 64);
    for (uint32_t r = 0; r < 16; ++r) {
      for (uint32_t k = 0; k < cols; ++k) {
        const float expected = r < 5 ? rows[r].values[k] : 0.0f;
        float single;
        std::memcpy(&single, &singles[(size_t{k} * 16 + r) * 4], 4);
        TEST_ASSERT_EQUAL_FLOAT(expected, single);
        TEST_ASSERT_EQUAL_FLOAT(expected, f32_from_f16(half_at(halves, (size_t{k} * 16 + r) * 2)));
      }
    }
    for (size_t byte = size_t{cols} * 32; byte < halves.size(); ++byte)
      TEST_ASSERT_EQUAL_INT(0, halves[byte]);
  }
}

TEST("packers: rows are written in order") {
  const std::vector<EncodedRow> rows = numbered_rows(DType::f16, 1, 9);
  std::vector<uint8_t> halves(18);
  pack_row(DType::f16, rows[0], std::as_writable_bytes(std::span(halves)));
  std::vector<float> singles(9);
  pack_row(DType::f32, rows[0], std::as_writable_bytes(std::span(singles)));
  for (size_t k = 0; k < 9; ++k) {
    TEST_ASSERT_EQUAL_FLOAT(rows[0].values[k], f32_from_f16(half_at(halves, 2 * k)));
    TEST_ASSERT_EQUAL_FLOAT(rows[0].values[k], singles[k]);
  }
}
