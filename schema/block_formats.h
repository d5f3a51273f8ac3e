// SPDX-License-Identifier: Apache-2.0
//
// Byte layouts of weights and of quantized activations, shared by the converter, the verifier and every
// kernel.
//
// P16K4: a weight [N, K] lies in panels of 16 output rows. A panel is one sequential stream of supercells, a
// supercell is two quantization groups of 32 columns, and everything is 64-byte aligned. N is padded to 16
// rows (scale 0) and, in the quantized types, K to 64 columns (nibble 8 in q4g32, else 0). Four k of one row
// share a 32-bit word, so a row stays in one int32 lane of dpbusd, sdot or maddubs + madd and no horizontal
// sum is needed.
//
// f32 and f16 in P16K4 are [panel][k][16] with K unpadded (a panel of f16 with odd K is padded to 64 bytes).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mote {

/// Equal to file::DType (checked in model.cpp).
enum class DType : uint8_t { f32 = 0, f16 = 1, q8g32 = 2, q4g32 = 3, q4mg32 = 4 };
inline constexpr uint32_t kDTypeCount = 5;

inline constexpr uint32_t kPanelRows = 16;     // rows of a panel
inline constexpr uint32_t kGroupColumns = 32;  // columns that share a scale
inline constexpr uint32_t kSupercellColumns = 64;
inline constexpr size_t kAlignment = 64;  // of tensors, buffer rows and the arena

constexpr uint64_t align_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// int8, group 32: value(r, k) = scale[g][r] * q, g = k / 32 in the supercell, k' = k % 32,
/// q = q[g][k' / 4][r][k' % 4], -128 to 127.
struct SupercellQ8 {
  uint16_t scale[2][16];  // f16
  int8_t q[2][8][16][4];
};
static_assert(sizeof(SupercellQ8) == 1088);

/// 4 bits, group 32: value(r, k) = scale[g][r] * (nibble - 8). With j = k' / 8 and i = k' % 8, the byte
/// nibbles[g][j][r][i % 4] holds k' in its low nibble for i < 4 and in its high nibble for i >= 4.
struct SupercellQ4 {
  uint16_t scale[2][16];  // f16
  uint8_t nibbles[2][4][16][4];
};
static_assert(sizeof(SupercellQ4) == 576);

/// 4 bits with a minimum, group 32: value(r, k) = scale[g][r] * nibble + minimum[g][r]; nibbles as above.
struct SupercellQ4m {
  uint16_t scale[2][16];    // f16
  uint16_t minimum[2][16];  // f16
  uint8_t nibbles[2][4][16][4];
};
static_assert(sizeof(SupercellQ4m) == 640);

/// Bytes of one P16K4 panel of K columns.
constexpr uint64_t panel_bytes(DType dtype, uint64_t cols) {
  const uint64_t supercells = align_up(cols, kSupercellColumns) / kSupercellColumns;
  switch (dtype) {
    case DType::f32:
      return cols * kPanelRows * 4;
    case DType::f16:
      return align_up(cols * kPanelRows * 2, kAlignment);
    case DType::q8g32:
      return supercells * sizeof(SupercellQ8);
    case DType::q4g32:
      return supercells * sizeof(SupercellQ4);
    case DType::q4mg32:
      return supercells * sizeof(SupercellQ4m);
  }
  return 0;
}

/// Bytes of a P16K4 tensor [rows, cols].
constexpr uint64_t packed_bytes(DType dtype, uint64_t rows, uint64_t cols) {
  return align_up(rows, kPanelRows) / kPanelRows * panel_bytes(dtype, cols);
}

/// Bytes of a row-major tensor (f32 and f16 only), padded to 64 as every tensor is.
constexpr uint64_t row_major_bytes(DType dtype, uint64_t rows, uint64_t cols) {
  return align_up(rows * cols * (dtype == DType::f32 ? 4 : 2), kAlignment);
}

// Buffer rows hold f32 or, as input of quantized matmuls, q8g32 activations. A quantized row of K columns is,
// with K padded to Kp = align_up(K, 64): int8 q[Kp], then float scale[Kp / 32], then int32 sum[Kp / 32] of
// each group's q.

constexpr uint64_t activation_padded(uint64_t width) { return align_up(width, kSupercellColumns); }
constexpr uint64_t activation_scale_offset(uint64_t width) { return activation_padded(width); }
constexpr uint64_t activation_sum_offset(uint64_t width) {
  return activation_padded(width) + activation_padded(width) / kGroupColumns * 4;
}

/// Bytes from one row of a buffer to the next: 64-byte aligned, so rows share no cache line.
constexpr uint64_t buffer_row_bytes(DType dtype, uint64_t width) {
  return dtype == DType::q8g32
             ? align_up(activation_sum_offset(width) + activation_padded(width) / kGroupColumns * 4,
                        kAlignment)
             : align_up(width * 4, kAlignment);
}

}  // namespace mote
