// SPDX-License-Identifier: Apache-2.0
//
// Byte layouts of weights and of quantized activations, shared by the converter, the verifier and every
// kernel.
//
// P16K4: a weight [N, K] lies in panels of 16 output rows. A panel is one sequential stream of supercells, a
// supercell is two quantization groups of 32 columns (in q8c, whose group is the row: the scales once, then
// the columns), and everything is 64-byte aligned. N is padded to 16 rows (scale 0) and, in the quantized
// types, K to 64 columns (nibble 8 in q4g32, else 0). Four k of one row share a 32-bit word, so a row stays
// in one int32 lane of dpbusd, sdot or maddubs + madd and no horizontal sum is needed.
//
// f32 and f16 in P16K4 are [panel][k][16] with K unpadded (a panel of f16 with odd K is padded to 64 bytes).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/little_endian.h"

namespace mote {

/// Those of files are equal to file::DType (checked in bind.cpp); bf16 and i8 are of KV caches alone.
enum class DType : uint8_t {
#define WEIGHT_TYPE(name, layout, activations) name,
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
  bf16 = 64,
  i8 = 65
};

#define WEIGHT_TYPE(name, layout, activations) +1
inline constexpr uint32_t kDTypeCount = 0  // of files
#include "schema/weight_types.inc"
    ;
#undef WEIGHT_TYPE

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

/// In q4k, q5k and q6k the scales are integers in units of a scale per 256 columns, so a supercell has 8
/// groups. The last of a panel ends behind the groups that K, padded to 64, has.
inline constexpr uint32_t kWideGroups = 8;
inline constexpr uint32_t kWideColumns = kWideGroups * kGroupColumns;

/// The numbers that make value(r, k) of group g: scale[r] * S and minimum[r] * M, S and M 6 bits each. With
/// pair = g / 2 and shift = 12 * (g % 2), S is bits shift to shift + 5 of a word and M the next 6. Pair 0 to
/// 2 has the low 24 bits of the word steps[pair][r]; pair 3 has the high bytes of the three, steps[0][r]'s
/// lowest.
struct WideScales {
  uint16_t scale[16];    // f16
  uint16_t minimum[16];  // f16
  uint32_t steps[3][16];
};
static_assert(sizeof(WideScales) == 256);

/// 4 bits: value(r, k) = scale S * nibble + minimum M; the nibbles as above.
struct SupercellQ4k {
  WideScales scales;
  uint8_t q[kWideGroups][4][16][4];  // nibbles
};
static_assert(sizeof(SupercellQ4k) == 2304);

/// 5 bits of a group: low four as nibbles as above, then bit k' / 4 of fifth[r][k' % 4].
struct FiveBits {
  uint8_t nibbles[4][16][4];
  uint8_t fifth[16][4];
};

/// 5 bits: value(r, k) = scale S * q + minimum M.
struct SupercellQ5k {
  WideScales scales;
  FiveBits q[kWideGroups];
};
static_assert(sizeof(SupercellQ5k) == 2816);

/// 6 bits of a group: low four as nibbles as above, then the two bits from 2 * (k' / 4 % 4) on of
/// high[k' / 16][r][k' % 4].
struct SixBits {
  uint8_t nibbles[4][16][4];
  uint8_t high[2][16][4];
};

/// 6 bits, 16 columns a step: value(r, k) = scale[r] * S * (q - 32), S = steps[g / 2][r][2 * (g % 2) +
/// k' / 16], -128 to 127.
struct SupercellQ6k {
  int8_t steps[kWideGroups / 2][16][4];
  uint16_t scale[16];  // f16
  uint8_t padding[32];
  SixBits q[kWideGroups];
};
static_assert(sizeof(SupercellQ6k) == 3392);

/// Bytes of supercells of 8 groups for `cols` columns.
template <class Supercell>
constexpr uint64_t wide_panel_bytes(uint64_t cols) {
  const uint64_t groups = align_up(cols, kSupercellColumns) / kGroupColumns;
  const uint64_t group = sizeof(Supercell::q) / kWideGroups, head = sizeof(Supercell) - sizeof(Supercell::q);
  return (groups + kWideGroups - 1) / kWideGroups * head + groups * group;
}

/// int8 per row: a panel is a HeadQ8c, then a QuadQ8c for each 4 columns. value(r, k) = scale[r] * q, q of
/// quad k / 4 at q[r][k % 4], -128 to 127.
struct HeadQ8c {
  float scale[16];
};
struct QuadQ8c {
  int8_t q[16][4];
};
static_assert(sizeof(HeadQ8c) == 64 && sizeof(QuadQ8c) == 64);

/// The widest q8c weight of a matmul: the int32 dot product of a row holds 128 * 128 for each column, those
/// that pad it too. Activations that nothing quantized may be -128, as weights may.
inline constexpr uint32_t kMaxColumnsQ8c = INT32_MAX / (128 * 128) / kSupercellColumns * kSupercellColumns;
static_assert(int64_t{kMaxColumnsQ8c} * 128 * 128 <= INT32_MAX && kMaxColumnsQ8c % kSupercellColumns == 0);

// Layouts of types: the bytes of a P16K4 panel of `cols` columns, whose supercells are counted, and of a
// row-major row. Most have panels alone.

/// The numbers themselves, of so many bytes.
template <uint32_t kBytes>
struct FloatLayout {
  static constexpr uint64_t panel_bytes(uint64_t cols, uint64_t) {
    constexpr uint64_t column = uint64_t{kPanelRows} * kBytes;
    return column % kAlignment == 0 ? cols * column : align_up(cols * column, kAlignment);
  }
  static constexpr bool kHasRows = true;
  static constexpr uint64_t row_bytes(uint64_t cols) { return cols * kBytes; }
};

/// Supercells of two groups.
template <class Supercell>
struct CellLayout {
  static constexpr uint64_t panel_bytes(uint64_t, uint64_t supercells) {
    return supercells * sizeof(Supercell);
  }
  static constexpr bool kHasRows = false;
  static constexpr uint64_t row_bytes(uint64_t) { return 0; }
};

/// Supercells of 8 groups.
template <class Supercell>
struct WideLayout {
  static constexpr uint64_t panel_bytes(uint64_t cols, uint64_t) { return wide_panel_bytes<Supercell>(cols); }
  static constexpr bool kHasRows = false;
  static constexpr uint64_t row_bytes(uint64_t) { return 0; }
};

/// q8c: a row is its scale and K int8, padded to 4.
struct RowScaleLayout {
  static constexpr uint64_t panel_bytes(uint64_t, uint64_t supercells) {
    return sizeof(HeadQ8c) + supercells * kSupercellColumns / 4 * sizeof(QuadQ8c);
  }
  static constexpr bool kHasRows = true;
  static constexpr uint64_t row_bytes(uint64_t cols) { return sizeof(float) + align_up(cols, 4); }
};

/// Bytes of one P16K4 panel of K columns.
constexpr uint64_t panel_bytes(DType dtype, uint64_t cols) {
  const uint64_t supercells = align_up(cols, kSupercellColumns) / kSupercellColumns;
  switch (dtype) {
#define WEIGHT_TYPE(name, layout, activations) \
  case DType::name:                            \
    return layout::panel_bytes(cols, supercells);
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
    case DType::bf16:  // of no weight
    case DType::i8:
      break;
  }
  return 0;
}

/// Bytes of a P16K4 tensor [rows, cols].
constexpr uint64_t packed_bytes(DType dtype, uint64_t rows, uint64_t cols) {
  return align_up(rows, kPanelRows) / kPanelRows * panel_bytes(dtype, cols);
}

/// Bytes of a row of a row-major tensor, 0 for the types that have panels alone.
constexpr uint64_t row_bytes(DType dtype, uint64_t cols) {
#define WEIGHT_TYPE(name, layout, activations) \
  if (layout::kHasRows && dtype == DType::name) return layout::row_bytes(cols);
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
  return 0;
}

/// Bytes of a row-major tensor, padded to 64 as every tensor is.
constexpr uint64_t row_major_bytes(DType dtype, uint64_t rows, uint64_t cols) {
  return align_up(rows * row_bytes(dtype, cols), kAlignment);
}

// Buffer rows hold f32 or, as input of quantized matmuls, activations quantized by groups of 32 columns
// (q8g32) or by rows (q8c). With K padded to Kp = align_up(K, 64), a row of K columns is int8 q[Kp], then
//   q8g32: float scale[Kp / 32], int32 sum[Kp / 32] of each group's q;
//   q8c: a RowScale.

/// The scale of a q8c row and the sum of its q.
struct RowScale {
  float scale;
  int32_t sum;
};
static_assert(sizeof(RowScale) == 8);

/// The type of activations that weights of this type are multiplied with.
constexpr DType activation_dtype(DType weight) {
#define WEIGHT_TYPE(name, layout, activations) \
  if (DType::activations != DType::q8g32 && weight == DType::name) return DType::activations;
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
  return DType::q8g32;
}

constexpr uint64_t activation_padded(uint64_t width) { return align_up(width, kSupercellColumns); }
constexpr uint64_t activation_scale_offset(uint64_t width) { return activation_padded(width); }
constexpr uint64_t activation_sum_offset(uint64_t width) {
  return activation_padded(width) + activation_padded(width) / kGroupColumns * 4;
}

/// Bytes from one row of a buffer to the next: 64-byte aligned, so rows share no cache line. 0 for a type
/// that buffers do not hold.
constexpr uint64_t buffer_row_bytes(DType dtype, uint64_t width) {
  switch (dtype) {
    case DType::f32:
      return align_up(width * 4, kAlignment);
    case DType::q8g32:
      return align_up(activation_sum_offset(width) + activation_padded(width) / kGroupColumns * 4,
                      kAlignment);
    case DType::q8c:
      return align_up(activation_scale_offset(width) + sizeof(RowScale), kAlignment);
    default:
      return 0;
  }
}

}  // namespace mote
