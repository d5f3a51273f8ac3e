// SPDX-License-Identifier: Apache-2.0
//
// Linear over P16K4 by tiles of R rows and one panel, in vectors of 4 outputs. M multiplies (smlal.inl.h,
// sdot.inl.h):
//
//   kRows, kByteRows      rows of a tile of weights in place, and of bytes
//   kLeastByteRows        of a tile of bytes; fewer are multiplied in place
//   kUnpackRows           the least rows that find nibbles unpacked to bytes
//   dots<R>(weights, a, start, d)
//                         d[r] = start[r] + the products of a group of weights with the 32 activations at
//                         a[r]: for each output, exactly. The weights are nibbles, int8, or SmallBytes for
//                         kByteRows rows.
//   kStart                where dot products start; to_float(d) is d less that, as floats
//   kTakesGroups<S, R>    whether take_groups<S, kAlone>(cell, a, rows, cells, ahead, acc) sets acc to the
//                         products of R rows with all cells; else dots does them group by group
//   Rows<R>               of q8c: sums of R rows (linear_rows.inl.h)
//   kTakesRows<R>         whether Rows<R>::take multiplies all columns; else add does 64
//
// The arithmetic is that of row_ops.h. The numbers that a tile needs of its rows' groups besides bytes are
// laid out in scratch for all panels: the scale, and where the dot products start, or, for weights with
// minima, the number that the minima multiply. Nibbles that many rows multiply are unpacked there, panel by
// panel, with their scales as floats.
#pragma once

#include "kernels/arm/floats_neon.inl.h"
#include "kernels/simd/linear_dots_parts.inl.h"
#include "kernels/simd/linear_finish.inl.h"

/// Computes x here: neither before what is above nor after what is below.
#define MOTE_ORDER(x) __asm__ volatile("" : "+w"(x))

namespace mote {
namespace {

constexpr uint32_t kPanelVectors = kPanelRows / 4;
constexpr uint32_t kRowsToL1 = 17;            // so many and more ask for their next weights to L1
constexpr uint32_t kAheadOfOneRow = 1 << 10;  // bytes: what a row alone asks for

/// body(constant 0), ... body(constant N - 1).
template <uint32_t N, class Body>
MOTE_INLINE inline void each_constant(const Body& body) {
  if constexpr (N > 1) each_constant<N - 1>(body);
  body(std::integral_constant<uint32_t, N - 1>());
}

static inline int32_t word_at(const char* bytes) {
  int32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/// Weights of a group from -8 to 15.
struct SmallBytes {
  int8_t q[8][16][4];
};

// ---- Where weights are: Format (linear_dots_parts.inl.h) in place, or unpacked. ----

template <class Format>
struct InPlace {
  using Weights = Format;
  using Cell = typename Format::Supercell;
  static constexpr uint32_t kGroups = 2;  // of a cell
  static constexpr bool kMinimum = Format::kMinimum;
  static constexpr bool kStarts = Format::kOffset != 0;  // dot products not at 0
  static const auto& weights(const Cell& cell, size_t g) { return Format::weights(cell, g); }
  static float32x4_t scale(const Cell& cell, size_t g, uint32_t v) {
    return FloatsNeon::load(cell.scale[g] + 4 * v);
  }
  static float32x4_t minimum(const Cell& cell, size_t g, uint32_t v) {
    return FloatsNeon::load(cell.minimum[g] + 4 * v);
  }
};

template <class Format>
struct alignas(64) UnpackedGroup {
  SmallBytes weights;
  float scale[Format::kMinimum ? 2 : 1][kPanelRows];  // then the minimum
};

template <class Format>
struct Unpacked {
  using Weights = Format;
  using Cell = UnpackedGroup<Format>;
  static constexpr uint32_t kGroups = 1;
  static constexpr bool kMinimum = Format::kMinimum;
  static constexpr bool kStarts = false;
  static const SmallBytes& weights(const Cell& cell, size_t) { return cell.weights; }
  static float32x4_t scale(const Cell& cell, size_t, uint32_t v) { return vld1q_f32(cell.scale[0] + 4 * v); }
  static float32x4_t minimum(const Cell& cell, size_t, uint32_t v) {
    return vld1q_f32(cell.scale[1] + 4 * v);
  }
};

/// A panel's nibbles as bytes, less their offset.
template <class Format>
static void unpack_panel(const typename Format::Supercell* cell, size_t groups, UnpackedGroup<Format>* to) {
  const int8x16_t offset = vdupq_n_s8(Format::kOffset);
  const auto* ahead = reinterpret_cast<const char*>(cell + groups / 2);  // the next panel
  for (const UnpackedGroup<Format>* end = to + groups; to != end; ++cell) {
    for (size_t line = 0; line < sizeof *cell; line += 64, ahead += 64) __builtin_prefetch(ahead, 0, 2);
    for (size_t g = 0; g < 2; ++g, ++to) {
      for (uint32_t v = 0; v < kPanelVectors; ++v) {
        vst1q_f32(to->scale[0] + 4 * v, InPlace<Format>::scale(*cell, g, v));
        if constexpr (Format::kMinimum)
          vst1q_f32(to->scale[1] + 4 * v, InPlace<Format>::minimum(*cell, g, v));
        for (uint32_t j = 0; j < 4; ++j) {
          const uint8x16_t w = vld1q_u8(cell->nibbles[g][j][4 * v]);
          const int8x16_t low = vreinterpretq_s8_u8(vandq_u8(w, vdupq_n_u8(15)));
          vst1q_s8(to->weights.q[2 * j][4 * v], vsubq_s8(low, offset));
          vst1q_s8(to->weights.q[2 * j + 1][4 * v], vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(w, 4)), offset));
        }
      }
    }
  }
}

// ---- Tiles ----

/// linear_finish, at once where a panel is whole and has no activation.
template <uint32_t R>
MOTE_INLINE inline void finish_tile_of(const LinearArgs& args, uint32_t row, uint32_t panel,
                                       const float (&sums)[R][kPanelRows]) {
  const uint32_t column = panel * kPanelRows;
  if (args.activation != Activation::none || args.outputs - column < kPanelRows)
    return linear_finish<FloatsNeon>(args, row, R, panel, sums[0]);
  float32x4_t bias[kPanelVectors];
  each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
    bias[v] = args.bias == nullptr ? vdupq_n_f32(-0.0f) : vld1q_f32(args.bias + column + 4 * v);
  });
  for (uint32_t r = 0; r < R; ++r) {
    float* out = args.out[row + r] + column;
    const float* residual = args.residual.data == nullptr ? nullptr : args.residual[row + r] + column;
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
      float32x4_t sum = vaddq_f32(vld1q_f32(sums[r] + 4 * v), bias[v]);
      if (residual != nullptr) sum = vaddq_f32(sum, vld1q_f32(residual + 4 * v));
      vst1q_f32(out + 4 * v, sum);
    });
  }
}

/// The numbers that a tile of R rows needs of a group of the rows: share is where the dot products of weights
/// in place start, or of weights with minima a float, scale * sum.
template <uint32_t R>
struct RowGroups {
  float scale[R];
  uint32_t share[R];
};

/// acc[r] += the group's dot products, scaled: one kind of instruction for all of a row after the other.
template <class M, class Source, uint32_t R>
MOTE_INLINE inline void scale_dots(const typename Source::Cell& cell, size_t g, const RowGroups<R>& rows,
                                   const int32x4_t (&d)[R][kPanelVectors], float (&acc)[R][kPanelRows]) {
  float32x4_t scale_w[kPanelVectors];
  each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { scale_w[v] = Source::scale(cell, g, v); });
  each_constant<R>([&](auto r) MOTE_INLINE {
    float32x4_t product[kPanelVectors], dot[kPanelVectors], sum[kPanelVectors];
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
      sum[v] = vld1q_f32(acc[r] + 4 * v);
      product[v] = vmulq_n_f32(scale_w[v], rows.scale[r]);
    });
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { dot[v] = M::to_float(d[r][v]); });
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { sum[v] = vfmaq_f32(sum[v], product[v], dot[v]); });
    if constexpr (Source::kMinimum) {
      float share;
      memcpy(&share, &rows.share[r], sizeof share);
      each_constant<kPanelVectors>(
          [&](auto v) MOTE_INLINE { sum[v] = vfmaq_n_f32(sum[v], Source::minimum(cell, g, v), share); });
    }
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE { vst1q_f32(acc[r] + 4 * v, sum[v]); });
    if constexpr (R > 1) __asm__ volatile("" ::: "memory");  // sums have no registers
  });
}

/// The next weights of a single row, or a tile's share of the next panel.
template <class Cell, bool kAlone>
struct CellsAhead {
  uint32_t prefetches;
  WeightsAhead ahead;
  void prefetch(const Cell* cell) {
    if constexpr (kAlone) {
      const char* from = reinterpret_cast<const char*>(cell) + kAheadOfOneRow;
      for (size_t line = 0; line < sizeof(Cell); line += 64) __builtin_prefetch(from + line, 0, 3);
    } else {
      for (uint32_t i = 0; i < prefetches; ++i) ahead.prefetch();
    }
  }
};

/// A tile of R rows from `row` on; kAlone: there is no other row.
template <class M, class Source, uint32_t R, bool kAlone>
__attribute__((noinline)) void group_tile(const LinearArgs& args, DType dtype, uint32_t panel, uint32_t row,
                                          const typename Source::Cell* cell, const RowGroups<R>* rows) {
  const size_t columns = padded_columns(args);
  const char* a[R];
  each_constant<R>([&](auto r) MOTE_INLINE { a[r] = linear_row(args, row + r); });
  PanelSums<R> acc;
  ask_for_outputs<R>(args, panel, row);
  constexpr uint32_t kCellColumns = Source::kGroups * kGroupColumns;
  const size_t cells = columns / kCellColumns;
  const size_t lines = panel_bytes(dtype, args.inputs) / cells / 64 + 1;
  const auto prefetches = static_cast<uint32_t>((lines * R + args.rows - 1) / args.rows);
  CellsAhead<typename Source::Cell, kAlone> ahead = {
      prefetches, WeightsAhead(args, dtype, panel, 1, row, R, cells * prefetches, kRowsToL1)};
  if constexpr (M::template kTakesGroups<Source, R>) {
    M::template take_groups<Source, kAlone>(cell, a, rows, cells, ahead, acc.row);
  } else {
    acc = {};
    for (const auto* end = cell + cells; cell != end; ++cell) {
      if constexpr (Source::kGroups == 2) ahead.prefetch(cell);
      each_constant<Source::kGroups>([&](auto g) MOTE_INLINE {
        uint32_t start[R];
        int32x4_t d[R][kPanelVectors];
        each_constant<R>([&](auto r)
                             MOTE_INLINE { start[r] = Source::kStarts ? rows->share[r] : M::kStart; });
        M::template dots<R>(Source::weights(*cell, g), a, start, d);
        scale_dots<M, Source>(*cell, g, *rows, d, acc.row);
        each_constant<R>([&](auto r) MOTE_INLINE { a[r] += kGroupColumns; });
        ++rows;
      });
    }
  }
  finish_tile_of<R>(args, row, panel, acc.row);
}

// ---- The walk over tiles ----

template <class M, class Format>
struct GroupLinear {
  static constexpr DType kDType = Format::kDType;
  using Groups = UnpackedGroup<Format>;

  static constexpr bool unpacks(uint64_t rows) { return !Format::kBiased && rows >= M::kUnpackRows; }
  static constexpr uint64_t unpacked_bytes(uint64_t rows, uint64_t inputs) {
    return unpacks(rows) ? activation_padded(inputs) / kGroupColumns * sizeof(Groups) : 0;
  }
  static constexpr uint64_t scratch_bytes(const ScratchShape& shape) {
    const uint64_t groups = activation_padded(shape.inputs) / kGroupColumns;
    // Grows with the rows.
    return align_up(unpacked_bytes(shape.rows, shape.inputs) + shape.rows * groups * sizeof(RowGroups<1>),
                    kAlignment);
  }

  /// RowGroups of all tiles of R rows.
  template <uint32_t R>
  static void lay_out_rows(const LinearArgs& args, uint32_t* to) {
    const size_t groups = padded_columns(args) / kGroupColumns;
    each_tile<R>(args.rows, [&](auto rows, uint32_t row) {
      constexpr uint32_t kTileRows = rows;
      auto* tile = reinterpret_cast<RowGroups<kTileRows>*>(to + row * groups * 2);
      for (uint32_t r = 0; r < kTileRows; ++r) {
        const char* in = linear_row(args, row + r);
        const auto* scale = reinterpret_cast<const float*>(in + scales_at(args));
        const auto* sum = reinterpret_cast<const int32_t*>(in + sums_at(args));
        for (size_t g = 0; g < groups; ++g) {
          tile[g].scale[r] = scale[g];
          tile[g].share[r] = share_of(scale[g], sum[g]);
        }
      }
    });
  }
  static uint32_t share_of(float scale, int32_t sum) {
    if constexpr (Format::kMinimum) {
      const float share = scale * static_cast<float>(sum);
      uint32_t bits;
      memcpy(&bits, &share, sizeof bits);
      return bits;
    } else {
      return M::kStart - Format::kOffset * static_cast<uint32_t>(sum);
    }
  }

  template <uint32_t R, bool kAlone, class Source>
  static void tile(const LinearArgs& args, uint32_t panel, uint32_t row, const uint32_t* rows,
                   const typename Source::Cell* cell) {
    const size_t groups = padded_columns(args) / kGroupColumns;
    group_tile<M, Source, R, kAlone>(args, kDType, panel, row, cell,
                                     reinterpret_cast<const RowGroups<R>*>(rows + row * groups * 2));
  }
  static const typename Format::Supercell* cells(const LinearArgs& args, uint32_t panel) {
    return reinterpret_cast<const typename Format::Supercell*>(linear_panel(args, kDType, panel));
  }

  static void one_row(const LinearArgs& args, Range panels, uint32_t* rows) {
    lay_out_rows<1>(args, rows);
    const auto one = [&](uint32_t panel) {
      tile<1, true, InPlace<Format>>(args, panel, 0, rows, cells(args, panel));
    };
    panels = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
      for (uint32_t i = 0; i < kLinearStreams; ++i) one(panel + i * stride);
    });
    for (uint32_t panel = panels.begin; panel < panels.end; ++panel) one(panel);
  }

  static void unpacked_rows(const LinearArgs& args, Range panels, const uint32_t* rows, Groups* to) {
    for (uint32_t panel = panels.begin; panel < panels.end; ++panel) {
      unpack_panel<Format>(cells(args, panel), padded_columns(args) / kGroupColumns, to);
      each_tile<M::kByteRows>(args.rows, [&](auto count, uint32_t row) {
        if constexpr (count < M::kLeastByteRows) {
          tile<count, false, InPlace<Format>>(args, panel, row, rows, cells(args, panel));
        } else {
          tile<count, false, Unpacked<Format>>(args, panel, row, rows, to);
        }
      });
    }
  }

  static void run(const LinearArgs& args, Range panels, void* scratch) {
    auto* unpacked = static_cast<Groups*>(scratch);
    auto* rows =
        reinterpret_cast<uint32_t*>(static_cast<char*>(scratch) + unpacked_bytes(args.rows, args.inputs));
    if (args.rows == 1) return one_row(args, panels, rows);
    if constexpr (!Format::kBiased) {
      if (unpacks(args.rows)) {
        if (!args.scratch_is_ready) lay_out_rows<M::kByteRows>(args, rows);
        return unpacked_rows(args, panels, rows, unpacked);
      }
    }
    if (!args.scratch_is_ready) lay_out_rows<M::kRows>(args, rows);
    for (uint32_t panel = panels.begin; panel < panels.end; ++panel) {
      each_tile<M::kRows>(args.rows, [&](auto count, uint32_t row) {
        tile<count, false, InPlace<Format>>(args, panel, row, rows, cells(args, panel));
      });
    }
  }
};

template <class M, class Format>
constexpr uint64_t linear_groups_scratch(const ScratchShape& shape) {
  return GroupLinear<M, Format>::scratch_bytes(shape);
}

template <class M, class Format>
void linear_groups(const LinearArgs& args, Range panels, void* scratch) {
  GroupLinear<M, Format>::run(args, panels, scratch);
}

}  // namespace
}  // namespace mote
