// SPDX-License-Identifier: Apache-2.0
//
// Linear of many rows by tiles T (amx_tiles.inl.h) and vectors V (vnni_512.inl.h). A tile of 16 rows of int8
// activations times one of weights, which a P16K4 panel holds as tdpbssd reads them: 16 quads of 64 bytes are
// 64 columns of 16 outputs.
//
// q8c: 2 tiles of rows by 2 panels, 64 columns at a time: 4 products for 4 loads.
//
// Groups: 32 columns have sums and scales of their own. The 256 int32 sums of a product are stored to memory,
// and vectors convert them to floats and scale them. Vector operations run at half rate for some time after a
// tile operation, so the two alternate by chunks: the products of kChunk groups, then their floats. The sums
// of 8 groups of 2 panels take 16 KiB and stay in L1. The sums of a group are stored one group later, so that
// the store does not wait for the product.
//
// Nibbles are unpacked once for all rows, minus 8 where they have an offset: 2 panels at a time, which stay
// in L1 or L2. int8 weights are read in place. The scales of activations, which lie by row, are copied into
// lists by group once for all panels.
//
// The last tile of rows ends with the last row and may overlap the tile before. Rows of both are stored once,
// because out may be the residual.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/simd/linear_dots.inl.h"

namespace mote {

namespace {

constexpr uint32_t kTileRows = 16;
constexpr uint32_t kChunkGroups = 8;  // whose products come before their scaling
constexpr size_t kTileBytes = kTileRows * kPanelRows * sizeof(int32_t);

/// Sums of a chunk by 2 panels, or of q8c those of 2 tiles of rows by 2 panels.
constexpr uint64_t kSumsBytes = kChunkGroups * 2 * kTileBytes;

/// Tile `tile` of the rows: its first row, and how many of its rows the tile before has as well.
struct RowTile {
  uint32_t row, skip;
  RowTile(const LinearArgs& args, uint32_t tile)
      : row(tile * kTileRows + kTileRows > args.rows ? args.rows - kTileRows : tile * kTileRows),
        skip(tile * kTileRows - row) {}
};

static inline uint32_t row_tiles(const LinearArgs& args) { return (args.rows + kTileRows - 1) / kTileRows; }

/// Bias, activation, residual and the store, for the sums of a tile of rows and one panel.
template <class V>
void finish_row_tile(const LinearArgs& args, RowTile tile, uint32_t panel, const float* sums) {
  V::finish(args, tile.row + tile.skip, kTileRows - tile.skip, panel, sums + tile.skip * kPanelRows);
}

// ---- q8c ----

template <class T, class V>
struct AmxRowKernel {
  static constexpr uint32_t kColumns = 64;
  using Vectors = V;
  using FewRows = RowKernel<V>;

  static constexpr uint64_t scratch_bytes(const ScratchShape&) { return kSumsBytes; }
  static void prepare(const LinearArgs&, char*) {}
  static void unpack_panels(const LinearArgs&, uint32_t, uint32_t, char*) {}

  /// float(sums) * the scales, in place.
  static void scale(const LinearArgs& args, uint32_t row, uint32_t panel, char* sums) {
    const typename V::Float scale_w =
        V::load_f32(reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel))->scale);
    const size_t columns = activation_padded(args.inputs);
    for (uint32_t r = 0; r < kTileRows; ++r, sums += kPanelRows * sizeof(float)) {
      const auto* of_row = reinterpret_cast<const RowScale*>(linear_row(args, row + r) + columns);
      V::store_f32(reinterpret_cast<float*>(sums),
                   V::fma(V::mul(V::set(of_row->scale), scale_w), V::convert(V::load(sums)), V::set(0.0f)));
    }
  }

  /// A tiles of rows, from `tile` on, by P panels.
  template <uint32_t A, uint32_t P>
  static void block(const LinearArgs& args, uint32_t tile, uint32_t panel, char* scratch) {
    const size_t columns = activation_padded(args.inputs);
    const RowTile first(args, tile), second(args, tile + A - 1);
    const char *a0 = linear_row(args, first.row), *a1 = linear_row(args, second.row);
    const char* w0 = linear_panel(args, DType::q8c, panel) + sizeof(HeadQ8c);
    const char* w1 = linear_panel(args, DType::q8c, panel + P - 1) + sizeof(HeadQ8c);
    for (uint32_t p = 0; p < P; ++p) {
      ask_for_outputs<kTileRows>(args, panel + p, first.row);
      if (A == 2) ask_for_outputs<kTileRows>(args, panel + p, second.row);
    }
    constexpr uint32_t kLines = kColumns / 4 * P;
    const uint32_t prefetches = (kLines * kTileRows * A + args.rows - 1) / args.rows;
    WeightsAhead ahead(args, DType::q8c, panel, P, first.row, kTileRows * A, columns / kColumns * prefetches,
                       UINT32_MAX);
    T::template zero<0>();
    if constexpr (P == 2) T::template zero<1>();
    if constexpr (A == 2) T::template zero<2>();
    if constexpr (A == 2 && P == 2) T::template zero<3>();
    for (size_t k = 0; k != columns; k += kColumns) {
      for (uint32_t i = 0; i < prefetches; ++i) ahead.prefetch();
      T::template load<4>(a0 + k, args.in_stride_bytes);
      T::template load<6>(w0 + k * kPanelRows, kQuadBytes);
      T::template dot<0, 4, 6>();
      if constexpr (P == 2) {
        T::template load<7>(w1 + k * kPanelRows, kQuadBytes);
        T::template dot<1, 4, 7>();
      }
      if constexpr (A == 2) {
        T::template load<5>(a1 + k, args.in_stride_bytes);
        T::template dot<2, 5, 6>();
      }
      if constexpr (A == 2 && P == 2) T::template dot<3, 5, 7>();
    }
    T::template store<0>(scratch, kQuadBytes);
    if constexpr (P == 2) T::template store<1>(scratch + kTileBytes, kQuadBytes);
    if constexpr (A == 2) T::template store<2>(scratch + 2 * kTileBytes, kQuadBytes);
    if constexpr (A == 2 && P == 2) T::template store<3>(scratch + 3 * kTileBytes, kQuadBytes);
    for (uint32_t i = 0; i < A; ++i) {
      const RowTile& of = i == 0 ? first : second;
      for (uint32_t p = 0; p < P; ++p) {
        char* sums = scratch + (2 * i + p) * kTileBytes;
        scale(args, of.row, panel + p, sums);
        finish_row_tile<V>(args, of, panel + p, reinterpret_cast<const float*>(sums));
      }
    }
  }

  template <uint32_t P>
  static void panels(const LinearArgs& args, uint32_t panel, char* scratch) {
    const uint32_t tiles = row_tiles(args);
    uint32_t tile = 0;
    for (; tile + 2 <= tiles; tile += 2) block<2, P>(args, tile, panel, scratch);
    if (tile < tiles) block<1, P>(args, tile, panel, scratch);
  }
};

// ---- Groups ----

template <class T, class V, class Format>
struct AmxGroupKernel {
  using Supercell = typename Format::Supercell;
  using Float = typename V::Float;
  static constexpr uint32_t kColumns = kGroupColumns;
  static constexpr uint32_t kChunk = kChunkGroups;
  using Vectors = V;
  using FewRows = GroupKernel<V, Format>;
  static constexpr size_t kGroupBytes = kGroupColumns * kPanelRows;  // of a panel, a byte for each weight
  static constexpr bool kUnpacks = Format::kDType != DType::q8g32;
  static constexpr uint32_t kGroupLines = (sizeof(Supercell) / 2 + 63) / 64;  // rounded up

  static size_t groups_of(const LinearArgs& args) { return activation_padded(args.inputs) / kGroupColumns; }

  // Scratch: the sums of a chunk, then the unpacked panels, then lists by tile of rows and group: 16 scales,
  // and for minima 16 times float(sum) * scale.
  static constexpr size_t kListFloats = kTileRows * (Format::kMinimum ? 2 : 1);
  static char* unpacked_in(char* scratch) { return scratch + kSumsBytes; }
  static float* lists_in(const LinearArgs& args, char* scratch) {
    return reinterpret_cast<float*>(unpacked_in(scratch) + unpacked_panels_bytes(args.inputs));
  }

  static constexpr uint64_t scratch_bytes(const ScratchShape& shape) {
    const uint64_t lists = align_up(shape.rows, kTileRows) / kTileRows * kListFloats;
    const uint64_t groups = activation_padded(shape.inputs) / kGroupColumns;
    return kSumsBytes + unpacked_panels_bytes(shape.inputs) + lists * groups * sizeof(float);
  }

  static void prepare(const LinearArgs& args, char* scratch) {
    const size_t groups = groups_of(args);
    float* list = lists_in(args, scratch);
    for (uint32_t tile = 0; tile < row_tiles(args); ++tile) {
      for (uint32_t r = 0; r < kTileRows; ++r) {
        const char* in = linear_row(args, RowTile(args, tile).row + r);
        const auto* scale = reinterpret_cast<const float*>(in + activation_scale_offset(args.inputs));
        const auto* sum = reinterpret_cast<const int32_t*>(in + activation_sum_offset(args.inputs));
        for (size_t g = 0; g < groups; ++g) {
          float* of_group = list + g * kListFloats + r;
          of_group[0] = scale[g];
          if (Format::kMinimum) of_group[kTileRows] = scale[g] * static_cast<float>(sum[g]);
        }
      }
      list += groups * kListFloats;
    }
  }

  static void unpack_group(const uint8_t (&nibbles)[4][16][4], char* to) {
    for (uint32_t j = 0; j < 4; ++j, to += 2 * kQuadBytes) {
      const typename V::Int w = V::load(nibbles[j]);
      typename V::Int low = V::low_nibbles(w), high = V::high_nibbles(w);
      if constexpr (Format::kOffset != 0) low = V::minus_8(low), high = V::minus_8(high);
      V::store(to, low);
      V::store(to + kQuadBytes, high);
    }
  }
  static void unpack_panels(const LinearArgs& args, uint32_t panel, uint32_t count, char* scratch) {
    if constexpr (kUnpacks) {
      char* to = unpacked_in(scratch);
      for (uint32_t p = 0; p < count; ++p) {
        const auto* cell = reinterpret_cast<const Supercell*>(linear_panel(args, Format::kDType, panel + p));
        for (size_t g = 0; g < groups_of(args); ++g, to += kGroupBytes)
          unpack_group(Format::weights(cell[g / 2], g % 2), to);
      }
    }
  }

  static const void* weights(const LinearArgs& args, const Supercell* cell, uint32_t p, size_t g,
                             char* scratch) {
    if constexpr (kUnpacks) return unpacked_in(scratch) + (p * groups_of(args) + g) * kGroupBytes;
    return Format::weights(cell[g / 2], g % 2);
  }

  /// The sums of a group into tiles 0 and 1 or 2 and 3.
  template <uint32_t P, uint32_t set>
  MOTE_INLINE static void multiply(const void* rows, size_t stride, const void* w0, const void* w1) {
    T::template load<4 + set>(rows, stride);
    T::template load<6>(w0, kQuadBytes);
    T::template zero<2 * set>();
    T::template dot<2 * set, 4 + set, 6>();
    if constexpr (P == 2) {
      T::template load<7>(w1, kQuadBytes);
      T::template zero<2 * set + 1>();
      T::template dot<2 * set + 1, 4 + set, 7>();
    }
  }
  template <uint32_t P, uint32_t set>
  MOTE_INLINE static void store(char* to) {
    T::template store<2 * set>(to, kQuadBytes);
    if constexpr (P == 2) T::template store<2 * set + 1>(to + kTileBytes, kQuadBytes);
  }

  /// acc [16] of a panel += `groups` groups, whose sums are P * kTileBytes apart.
  static void scale(const Supercell* cell, size_t first, size_t groups, size_t sums_step, const char* sums,
                    const float* list, PanelSums<kTileRows>* acc) {
    Float x[kTileRows];
    each<V, kTileRows>([&](uint32_t r) MOTE_INLINE { x[r] = V::load_f32(acc->row[r]); });
    for (size_t g = first; g != first + groups; ++g, sums += sums_step, list += kListFloats) {
      const Float scale_w = V::load_f16(cell[g / 2].scale[g % 2]);
      Float minimum_w = scale_w;
      if constexpr (Format::kMinimum) minimum_w = V::load_f16(cell[g / 2].minimum[g % 2]);
      each<V, kTileRows>([&](uint32_t r) MOTE_INLINE {
        x[r] = V::fma(V::mul(V::set(list[r]), scale_w), V::convert(V::load(sums + r * kQuadBytes)), x[r]);
        if constexpr (Format::kMinimum) x[r] = V::fma(minimum_w, V::set(list[kTileRows + r]), x[r]);
      });
    }
    each<V, kTileRows>([&](uint32_t r) MOTE_INLINE { V::store_f32(acc->row[r], x[r]); });
  }

  /// A tile of rows by P panels.
  template <uint32_t P>
  static void block(const LinearArgs& args, uint32_t tile, uint32_t panel, char* scratch) {
    const RowTile rows(args, tile);
    const char* in = linear_row(args, rows.row);
    const size_t groups = groups_of(args), stride = args.in_stride_bytes;
    const Supercell* cell[P];
    PanelSums<kTileRows> acc[P];
    for (uint32_t p = 0; p < P; ++p) {
      cell[p] = reinterpret_cast<const Supercell*>(linear_panel(args, Format::kDType, panel + p));
      memset(&acc[p], 0, sizeof acc[p]);
      ask_for_outputs<kTileRows>(args, panel + p, rows.row);
    }
    const float* list = lists_in(args, scratch) + tile * groups * kListFloats;
    const uint32_t prefetches = (kGroupLines * P * kTileRows + args.rows - 1) / args.rows;
    WeightsAhead ahead(args, Format::kDType, panel, P, rows.row, kTileRows, groups * prefetches, UINT32_MAX);
    for (size_t first = 0, count; first != groups; first += count) {
      count = groups - first < kChunk ? groups - first : kChunk;  // even, as all groups are
      char* sums = scratch;
      for (size_t g = first; g != first + count; g += 2) {
        for (uint32_t i = 0; i < 2 * prefetches; ++i) ahead.prefetch();
        multiply<P, 0>(in + g * kGroupColumns, stride, weights(args, cell[0], 0, g, scratch),
                       weights(args, cell[P - 1], P - 1, g, scratch));
        if (g != first) store<P, 1>(sums - P * kTileBytes);
        multiply<P, 1>(in + (g + 1) * kGroupColumns, stride, weights(args, cell[0], 0, g + 1, scratch),
                       weights(args, cell[P - 1], P - 1, g + 1, scratch));
        store<P, 0>(sums);
        sums += 2 * P * kTileBytes;
      }
      store<P, 1>(sums - P * kTileBytes);
      for (uint32_t p = 0; p < P; ++p) {
        scale(cell[p], first, count, P * kTileBytes, scratch + p * kTileBytes, list + first * kListFloats,
              &acc[p]);
      }
    }
    for (uint32_t p = 0; p < P; ++p) finish_row_tile<V>(args, rows, panel + p, acc[p].row[0]);
  }

  template <uint32_t P>
  static void panels(const LinearArgs& args, uint32_t panel, char* scratch) {
    for (uint32_t tile = 0; tile < row_tiles(args); ++tile) block<P>(args, tile, panel, scratch);
  }
};

// ---- The walk over panels; fewer rows than a tile has go to `few_rows`, whose kernel is Kernel::FewRows. ----

using LinearKernel = void(const LinearArgs& args, Range panels, void* scratch);

template <class T, class Kernel, LinearKernel few_rows>
constexpr uint64_t linear_amx_scratch(const ScratchShape& shape) {
  const uint64_t few = linear_dots_scratch<typename Kernel::Vectors, typename Kernel::FewRows>(shape);
  const uint64_t many = shape.rows < kTileRows ? 0 : align_up(Kernel::scratch_bytes(shape), kAlignment);
  return few > many ? few : many;
}

template <class T, class Kernel, LinearKernel few_rows>
void linear_amx(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows < kTileRows) return few_rows(args, panels, scratch);
  char* to = static_cast<char*>(scratch);
  if (!args.scratch_is_ready) Kernel::prepare(args, to);
  T::template configure<Kernel::kColumns>();
  uint32_t panel = panels.begin;
  for (; panel + 2 <= panels.end; panel += 2) {
    Kernel::unpack_panels(args, panel, 2, to);
    Kernel::template panels<2>(args, panel, to);
  }
  if (panel < panels.end) {
    Kernel::unpack_panels(args, panel, 1, to);
    Kernel::template panels<1>(args, panel, to);
  }
  T::release();
}

}  // namespace
}  // namespace mote
