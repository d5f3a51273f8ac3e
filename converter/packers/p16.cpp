// SPDX-License-Identifier: Apache-2.0
#include "converter/packers/p16.h"

#include <algorithm>
#include <cstring>

#include "schema/f16.h"

namespace mote::convert {
namespace {

template <uint32_t kBytes>
void store_value(float value, size_t index, std::span<std::byte> out) {
  if constexpr (kBytes == 4) {
    std::memcpy(out.data() + index * 4, &value, 4);
  } else {
    const uint16_t half = f16_from_f32(value);
    std::memcpy(out.data() + index * 2, &half, 2);
  }
}

template <uint32_t kBytes>
void pack(FloatLayout<kBytes>, uint64_t cols, std::span<const EncodedRow> rows, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t k = 0; k < cols; ++k) store_value<kBytes>(rows[r].values[k], k * kPanelRows + r, out);
  }
}
template <uint32_t kBytes>
void pack_row(FloatLayout<kBytes>, const EncodedRow& row, std::span<std::byte> out) {
  for (size_t k = 0; k < row.values.size(); ++k) store_value<kBytes>(row.values[k], k, out);
}

/// A 4-bit k shares its byte with k + 4 of the same 8: low nibble for k % 8 < 4.
template <class Cell>
void store_nibble(Cell& cell, size_t group, size_t row, size_t column, uint32_t nibble) {
  uint8_t& byte = cell.nibbles[group][column / 8][row][column % 4];
  const uint32_t shift = column % 8 < 4 ? 0 : 4;
  byte = static_cast<uint8_t>((byte & ~(0xFu << shift)) | (nibble << shift));
}

void store(SupercellQ8& cell, const QuantRow& row, size_t index, size_t group, size_t r, size_t column) {
  cell.q[group][column / 4][r][column % 4] = row.q[index];
}
void store(SupercellQ4& cell, const QuantRow& row, size_t index, size_t group, size_t r, size_t column) {
  store_nibble(cell, group, r, column, static_cast<uint32_t>(row.q[index] + 8));
}
void store(SupercellQ4m& cell, const QuantRow& row, size_t index, size_t group, size_t r, size_t column) {
  store_nibble(cell, group, r, column, static_cast<uint32_t>(row.q[index]));
}

void store_minimum(SupercellQ8&, const QuantRow&, size_t, size_t, size_t) {}
void store_minimum(SupercellQ4&, const QuantRow&, size_t, size_t, size_t) {}
void store_minimum(SupercellQ4m& cell, const QuantRow& row, size_t index, size_t group, size_t r) {
  cell.minimum[group][r] = row.minimum[index];
}

/// Padding: scale 0, and the nibbles that stand for 0.
template <class Cell>
Cell blank_cell() {
  Cell cell{};
  if constexpr (std::is_same_v<Cell, SupercellQ4>) std::memset(cell.nibbles, 0x88, sizeof(cell.nibbles));
  return cell;
}

template <class Cell>
void pack(CellLayout<Cell>, uint64_t cols, std::span<const EncodedRow> rows, std::span<std::byte> out) {
  const size_t cells = out.size() / sizeof(Cell);
  for (size_t c = 0; c < cells; ++c) {
    Cell cell = blank_cell<Cell>();
    for (size_t r = 0; r < rows.size(); ++r) {
      const QuantRow& row = rows[r].quant;
      for (size_t group = 0; group < 2; ++group) {
        const size_t first = c * kSupercellColumns + group * kGroupColumns;
        if (first >= cols) break;
        const size_t index = first / kGroupColumns;
        cell.scale[group][r] = row.scale[index];
        store_minimum(cell, row, index, group, r);
        const size_t count = std::min<size_t>(kGroupColumns, cols - first);
        for (size_t k = 0; k < count; ++k) store(cell, row, first + k, group, r, k);
      }
    }
    std::memcpy(out.data() + c * sizeof(Cell), &cell, sizeof(Cell));
  }
}

// ---- Supercells of 8 groups ----

void store_q(uint8_t (&nibbles)[4][16][4], size_t r, size_t column, int q) {
  uint8_t& byte = nibbles[column / 8][r][column % 4];
  byte = static_cast<uint8_t>(byte | (q & 15) << (column % 8 < 4 ? 0 : 4));
}
void store_q(FiveBits& group, size_t r, size_t column, int q) {
  store_q(group.nibbles, r, column, q);
  uint8_t& byte = group.fifth[r][column % 4];
  byte = static_cast<uint8_t>(byte | (q >> 4 & 1) << (column / 4));
}
/// Stored with an offset of 32.
void store_q(SixBits& group, size_t r, size_t column, int q) {
  store_q(group.nibbles, r, column, q + 32);
  uint8_t& byte = group.high[column / 16][r][column % 4];
  byte = static_cast<uint8_t>(byte | ((q + 32) >> 4 & 3) << (column / 4 % 4 * 2));
}

template <class Cell>
void store_scales(Cell& cell, const QuantRow& row, size_t index, size_t r) {
  cell.scales.scale[r] = row.scale[index];
  cell.scales.minimum[r] = row.minimum[index];
  const size_t first = index * kWideGroups;
  for (size_t g = 0; g < kWideGroups && first + g < row.scale_steps.size(); ++g) {
    const uint32_t steps = static_cast<uint32_t>(row.scale_steps[first + g]) |
                           static_cast<uint32_t>(row.minimum_steps[first + g]) << 6;
    const uint32_t bits = steps << (12 * (g % 2));
    for (uint32_t byte = 0; byte < 3; ++byte) {
      const uint32_t part = bits >> (8 * byte) & 0xFF;
      cell.scales.steps[g / 2 < 3 ? g / 2 : byte][r] |= part << (g / 2 < 3 ? 8 * byte : 24);
    }
  }
}
void store_scales(SupercellQ6k& cell, const QuantRow& row, size_t index, size_t r) {
  cell.scale[r] = row.scale[index];
  const size_t first = index * 2 * kWideGroups;
  for (size_t half = 0; half < 2 * kWideGroups && first + half < row.scale_steps.size(); ++half)
    cell.steps[half / 4][r][half % 4] = row.scale_steps[first + half];
}

/// The last supercell has only the groups that `out` has room for. Padding: scales and values 0.
template <class Cell>
void pack(WideLayout<Cell>, uint64_t cols, std::span<const EncodedRow> rows, std::span<std::byte> out) {
  for (size_t c = 0; c * kWideColumns < cols; ++c) {
    Cell cell{};
    for (size_t r = 0; r < kPanelRows; ++r) {
      if (r < rows.size()) store_scales(cell, rows[r].quant, c, r);
      for (size_t k = 0; k < kWideColumns; ++k) {
        const size_t column = c * kWideColumns + k;
        const bool inside = r < rows.size() && column < cols;
        store_q(cell.q[k / kGroupColumns], r, k % kGroupColumns, inside ? rows[r].quant.q[column] : 0);
      }
    }
    const size_t at = c * sizeof(Cell);
    std::memcpy(out.data() + at, &cell, std::min(sizeof(Cell), out.size() - at));
  }
}

void pack(RowScaleLayout, uint64_t, std::span<const EncodedRow> rows, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  for (size_t r = 0; r < rows.size(); ++r) {
    const QuantRow& row = rows[r].quant;
    std::memcpy(out.data() + offsetof(HeadQ8c, scale) + 4 * r, &row.row_scale, 4);
    for (size_t k = 0; k < row.q.size(); ++k) {
      const size_t quad = sizeof(HeadQ8c) + k / 4 * sizeof(QuadQ8c);
      out[quad + 4 * r + k % 4] = static_cast<std::byte>(row.q[k]);
    }
  }
}

void pack_row(RowScaleLayout, const EncodedRow& row, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  std::memcpy(out.data(), &row.quant.row_scale, sizeof(float));
  std::memcpy(out.data() + sizeof(float), row.quant.q.data(), row.quant.q.size());
}
template <class Layout>
void pack_row(Layout, const EncodedRow&, std::span<std::byte>) {}  // of panels alone

}  // namespace

void pack_panel(DType dtype, uint64_t cols, std::span<const EncodedRow> rows, std::span<std::byte> out) {
#define WEIGHT_TYPE(name, layout, activations) \
  if (dtype == DType::name) pack(layout(), cols, rows, out);
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
}

void pack_row(DType dtype, const EncodedRow& row, std::span<std::byte> out) {
#define WEIGHT_TYPE(name, layout, activations) \
  if (dtype == DType::name) pack_row(layout(), row, out);
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
}

}  // namespace mote::convert
