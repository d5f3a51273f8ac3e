// SPDX-License-Identifier: Apache-2.0
//
// Bytes of scratch that kernels use, by their layouts. kernel_list.inc's entries carry them (dispatch.h).
#pragma once

#include "kernels/cpu_features.h"
#include "kernels/ops.h"

namespace mote {

/// For one work unit of attention, f32: scores [R * H/G, tile], running maximum and sum, a segment's
/// partials; and its queries in bf16, or in int16 with 16 bytes more.
constexpr uint64_t attention_scratch_bytes(uint64_t heads_per_kv_head, uint32_t key_dim, uint32_t value_dim) {
  const uint64_t floats = kAttentionTile + 2 + attention_partial_floats(value_dim) + (key_dim + 1) / 2 + 4;
  return align_up(kAttentionRowBlock * heads_per_kv_head * floats * 4, kAlignment);
}

/// The ways in which a tile of q8c rows is multiplied on AVX2 (x86/quad_plan_avx2.inl.h): a head, and 2 bytes
/// for each 8 columns and each 4.
constexpr uint64_t kQuadPlanHeadBytes = 64;
constexpr uint32_t kQuadPlanRows = 4;
constexpr uint64_t quad_plan_bytes(uint64_t columns) {
  return align_up(kQuadPlanHeadBytes + (columns / 8 + columns / 4) * 2, alignof(uint64_t));
}

/// Two panels unpacked to a byte for each weight (simd/linear_dots.inl.h).
constexpr uint64_t unpacked_panels_bytes(uint64_t inputs) {
  return 2 * kPanelRows * activation_padded(inputs);
}

/// On AVX2 a panel of nibbles, a byte for each with each group's scales as floats, and for each group of all
/// rows two words (x86/linear_nibbles_avx2.inl.h).
constexpr uint64_t nibbles_scratch_bytes(DType weight, uint64_t rows, uint64_t inputs) {
  const uint64_t groups = activation_padded(inputs) / kGroupColumns, floats = weight == DType::q4mg32 ? 2 : 1;
  return groups * (kPanelRows * (floats * sizeof(float) + kGroupColumns) + rows * 2 * sizeof(float));
}

/// Sums of three panels by all rows, which go on with the next columns (simd/linear_float.inl.h).
constexpr uint64_t float_sums_bytes(uint64_t rows) { return rows * 3 * kPanelRows * sizeof(float); }

/// Rows of a tile of AMX, and groups whose sums wait for their scales (x86/linear_amx.inl.h): as many by 2
/// panels, or of q8c 2 tiles of rows by 2 panels.
constexpr uint32_t kAmxTileRows = 16;
constexpr uint32_t kAmxChunkGroups = 8;
constexpr uint64_t kAmxSumsBytes = kAmxChunkGroups * 2 * kAmxTileRows * kPanelRows * sizeof(int32_t);

/// Sums, two unpacked panels, and for each row and group a scale and, with minima, scale * sum.
constexpr uint64_t amx_scratch_bytes(DType weight, uint64_t rows, uint64_t inputs) {
  if (weight == DType::q8c) return kAmxSumsBytes;
  const uint64_t groups = activation_padded(inputs) / kGroupColumns;
  const uint64_t floats = align_up(rows, kAmxTileRows) * groups * (weight == DType::q4mg32 ? 2 : 1);
  return kAmxSumsBytes + unpacked_panels_bytes(inputs) + floats * sizeof(float);
}

/// The reference kernels use none, nor do those of 8 bits by groups on AVX2.
constexpr bool linear_uses_scratch(DType weight, Isa isa) {
  return isa != Isa::kRef && !(weight == DType::q8g32 && isa == Isa::kAvx2);
}

/// Of floats their sums; the plans of all rows where q8c has them; what nibbles need on AVX2; else two
/// unpacked panels and, for groups in 512 bits, behind them a word for each group of all rows.
inline uint64_t linear_scratch_bytes(DType weight, Isa isa, uint64_t rows, uint64_t inputs) {
  const uint64_t columns = activation_padded(inputs);
  if (activation_dtype(weight) == DType::f32) return align_up(float_sums_bytes(rows), kAlignment);
  if (weight == DType::q8c && isa == Isa::kAvx2) {
    return align_up((rows + kQuadPlanRows - 1) / kQuadPlanRows * quad_plan_bytes(columns), kAlignment);
  }
  if ((weight == DType::q4g32 || weight == DType::q4mg32) && isa == Isa::kAvx2)
    return align_up(nibbles_scratch_bytes(weight, rows, inputs), kAlignment);
  const bool sums = weight != DType::q8c && isa_includes(isa, Isa::kAvx512Vnni);
  const uint64_t sums_bytes = sums ? rows * (columns / kGroupColumns) * sizeof(float) : 0;
  const uint64_t bytes = unpacked_panels_bytes(inputs) + sums_bytes;
  const bool tiles = isa == Isa::kAmxInt8 && rows >= kAmxTileRows;
  const uint64_t of_tiles = tiles ? amx_scratch_bytes(weight, rows, inputs) : 0;
  return align_up(of_tiles > bytes ? of_tiles : bytes, kAlignment);
}

}  // namespace mote
