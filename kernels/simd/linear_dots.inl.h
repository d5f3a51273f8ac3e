// SPDX-License-Identifier: Apache-2.0
//
// Linear by dot products of bytes over the vectors V (dots.h): each int32 lane adds the products of 4 weights
// and 4 activations; a word of 4 activations is broadcast to every lane.
//
// Where the dot product takes weights as unsigned (dpbusd), int8 weights have 128 added; nibbles are
// unsigned, those of q4g32 with an offset of 8. The int32 sum starts at minus 128 or 8 times the sum of the
// activations, which cancels the excess. Arithmetic is mod 2^32, so the result is exact even if a partial sum
// wraps. The sum of the activations is read from the activation row, where the quantize kernels store it. In
// a buffer that nothing quantized it may be any int32, and the subtraction wraps.
//
// A tile is R rows by P panels, each of V::kVectors vectors:
//
//   One row: V::kRowPanels panels side by side, read in place. Each weight is used once.
//   Up to V::kPairRows rows: 2 panels, read in place. Two streams do not use the whole memory bandwidth, so
//     the next panels are prefetched.
//   Up to kInPlaceRows rows of q8c in 512 bits: the same, in tiles of 8 x 2.
//   More than kInPlaceRows rows in 512 bits: the first tile of 2 panels also stores their weights as unsigned
//     bytes, quad by quad, in scratch, which stays in L1 or L2; the stores take few of the tile's cycles.
//     Tiles are 6 x 2: 12 int32 sums, 12 float sums, 2 weights and a word take 27 of 32 registers. q8c has no
//     float sums, so its tiles are 8 x 2. The starts of the dot products, or the factors of the minima, are
//     computed once for all tiles.
//   Otherwise, and for a panel left over: 1 panel read in place, by up to V::kSingleRows rows. In 512 bits
//     dpbusd takes the words from memory, because broadcast loads use the ports of the other operations on
//     Zen 4.
//
// There are no other tails: K is padded to 64 and N to 16 in the file.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/simd/linear_dots_parts.inl.h"

namespace mote {
namespace {

constexpr uint32_t kInPlaceRows = 16;  // with more rows weights are unpacked
constexpr uint32_t kRowsToL1 = 17;     // from so many rows on weights are prefetched to L1

/// Where a tile finds its weights.
enum class Weights {
  in_place,
  unpacking,  // in place, and leaves them in scratch
  unpacked    // in scratch
};

// ---- Kernels: a tile of R rows by the P panels `panel`, `panel` + stride, ... ----

/// Two panels unpacked to a byte for each weight.
constexpr uint64_t unpacked_panels_bytes(uint64_t inputs) {
  return 2 * kPanelRows * activation_padded(inputs);
}

/// Says whether a tile prefetches the panels after its own: a tile with as many streams as a single row needs
/// not.
template <uint32_t P>
constexpr bool kAhead = P < kLinearStreams;

/// Bytes from the start of a row of q8g32 activations.
struct GroupAt {
  size_t q, scale, sum;
};

/// The place in scratch, behind the unpacked panels, of the values that a tile from `row` on needs of its
/// rows' sums, group by group: float(sum) * scale for weights with minima, else -offset * sum, the start of
/// the dot products.
static inline size_t prepared_sums_at(const LinearArgs& args, uint32_t row) {
  const size_t groups = padded_columns(args) / kGroupColumns;
  return static_cast<size_t>(unpacked_panels_bytes(args.inputs)) + row * groups * sizeof(float);
}

/// Weights of Format by q8g32 activations: a float sum for each output and row, one or two fma a group.
template <class V, class Format>
struct GroupKernel {
  using Supercell = typename Format::Supercell;
  using Float = typename V::Float;
  static constexpr uint32_t kUnpackedRows = 6;
  /// Rows of a tile of two panels in place, and the most rows that such tiles multiply.
  static constexpr uint32_t kPairRows = V::kPairRows, kMostPairRows = V::kPairRows;
  static constexpr uint32_t kGroupLines = (sizeof(Supercell) / 2 + 63) / 64;  // rounded up

  /// The value that a tile needs of a row's sum of a group.
  using Prepared = std::conditional_t<Format::kMinimum, float, int32_t>;
  static Prepared prepared([[maybe_unused]] float scale, int32_t sum) {
    if constexpr (Format::kMinimum) {
      return scale * static_cast<float>(sum);
    } else {
      return static_cast<int32_t>(0 - kOffsetOf<V, Format> * static_cast<uint32_t>(sum));
    }
  }

  static Float scale_of(const char* in, const GroupAt& at) {
    return V::set(*reinterpret_cast<const float*>(in + at.scale));
  }

  /// acc[r] += a group's dot products, scaled; sum_of(r) is float(sum) * scale of row r.
  template <uint32_t R, class SumOf>
  MOTE_INLINE static void scale(const Supercell& cell, size_t g, const char* const (&in)[R],
                                const GroupAt& at, const SumOf& sum_of,
                                const typename V::Int (&dot)[R][V::kVectors], Float (&acc)[R][V::kVectors]) {
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
      const Float scale_w = V::load_f16(part<V>(cell.scale[g], v));
      each<V, R>([&](uint32_t r) MOTE_INLINE {
        acc[r][v] = V::fma(V::mul(scale_of(in[r], at), scale_w), V::convert(dot[r][v]), acc[r][v]);
        if constexpr (Format::kMinimum)
          acc[r][v] = V::fma(V::load_f16(part<V>(cell.minimum[g], v)), sum_of(r), acc[r][v]);
      });
    });
  }

  /// acc += the group's products: of panels in place one after the other, of unpacked ones together, for
  /// which the rows' sums are prepared.
  template <uint32_t R, uint32_t P, bool kUnpacked>
  MOTE_INLINE static void add_panels(const Supercell* const (&cell)[P], size_t g, const uint8_t* unpacked,
                                     const Prepared* sums, const char* const (&in)[R], const GroupAt& at,
                                     Float (&acc)[P][R][V::kVectors]) {
    if constexpr (kUnpacked) {
      Dots<V, R, P> dot;
      const auto sum_of = [&](uint32_t r) MOTE_INLINE { return V::set(sums[r]); };
      if constexpr (Format::kMinimum) {
        start<V>([](uint32_t) MOTE_INLINE { return V::zero(); }, dot);
      } else {
        start<V>(sum_of, dot);
      }
      add_unpacked<V, R, P>(unpacked, in, at.q, dot);
      each<V, P>([&](uint32_t p) MOTE_INLINE { scale<R>(*cell[p], g, in, at, sum_of, dot[p], acc[p]); });
    } else {
      const auto sum_of = [&](uint32_t r) MOTE_INLINE {
        const int32_t sum = *reinterpret_cast<const int32_t*>(in[r] + at.sum);
        return V::mul(scale_of(in[r], at), V::convert(V::set(sum)));
      };
      each<V, P>([&](uint32_t p) MOTE_INLINE {
        Dots<V, R, 1> dot;
        start_by_sums<V, kOffsetOf<V, Format>>(in, at.sum, dot);
        add_group<V>(Format::weights(*cell[p], g), in, at.q, dot);
        scale<R>(*cell[p], g, in, at, sum_of, dot[0], acc[p]);
      });
    }
  }

  template <uint32_t R, uint32_t P, Weights kWeights>
  __attribute__((noinline)) static void tile(const LinearArgs& args, uint32_t panel, uint32_t stride,
                                             uint32_t row, uint8_t* unpacked) {
    constexpr bool kUnpacked = kWeights != Weights::in_place;
    const Supercell* cell[P];
    const char* in[R];
    Float acc[P][R][V::kVectors];
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      cell[p] = reinterpret_cast<const Supercell*>(linear_panel(args, Format::kDType, panel + p * stride));
      each<V, R>([&](uint32_t r) MOTE_INLINE {
        in[r] = linear_row(args, row + r);
        each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE { acc[p][r][v] = V::set(0.0f); });
      });
    });
    for (uint32_t p = 0; p < P; ++p) ask_for_outputs<R>(args, panel + p * stride, row);
    GroupAt at = {0, scales_at(args), sums_at(args)};
    const size_t columns = padded_columns(args);
    const Prepared* sums = nullptr;
    if (kUnpacked) sums = reinterpret_cast<const Prepared*>(unpacked + prepared_sums_at(args, row));
    const uint32_t prefetches = kAhead<P> ? (kGroupLines * P * R + args.rows - 1) / args.rows : 0;
    WeightsAhead ahead(args, Format::kDType, panel, P, row, R, columns / kGroupColumns * prefetches,
                       kRowsToL1);
    while (at.q != columns) {
      for (size_t g = 0; g < 2; ++g) {
        for (uint32_t i = 0; i < prefetches; ++i) ahead.prefetch();
        if constexpr (kWeights == Weights::unpacking) {
          each<V, P>([&](uint32_t p)
                         MOTE_INLINE { unpack<V>(Format::weights(*cell[p], g), unpacked + p * kQuadBytes); });
        }
        add_panels<R, P, kUnpacked>(cell, g, unpacked, sums, in, at, acc);
        at = {at.q + kGroupColumns, at.scale + 4, at.sum + 4};
        if (kUnpacked) unpacked += kGroupColumns * kPanelRows * P;
        if (kUnpacked) sums += R;
      }
      each<V, P>([&](uint32_t p) MOTE_INLINE { ++cell[p]; });
    }
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      finish_tile<V, R>(args, row, panel + p * stride,
                        [&](uint32_t r, uint32_t v) MOTE_INLINE { return acc[p][r][v]; });
    });
  }

  /// Two unpacked panels, and behind them the values computed for all tiles.
  static constexpr uint64_t scratch_bytes(const ScratchShape& shape) {
    if (!V::kUnpacks || shape.rows <= kInPlaceRows) return 0;
    return unpacked_panels_bytes(shape.inputs) +
           shape.rows * (activation_padded(shape.inputs) / kGroupColumns) * sizeof(Prepared);
  }
  /// Stores in scratch the values that do not depend on the panel.
  static void prepare(const LinearArgs& args, uint8_t* scratch) {
    if (!V::kUnpacks || args.rows <= kInPlaceRows) return;
    auto* sums = reinterpret_cast<Prepared*>(scratch + prepared_sums_at(args, 0));
    lay_out_groups<kUnpackedRows>(args, sums, prepared);
  }
};

/// q8c weights and activations: one int32 sum for each output and row, and one fma at its end.
template <class V>
struct RowKernel {
  using Int = typename V::Int;
  using Float = typename V::Float;
  static constexpr uint32_t kUnpackedRows = 8;
  static constexpr uint32_t kPairRows = V::kUnpacks ? kUnpackedRows : V::kPairRows;
  static constexpr uint32_t kMostPairRows = V::kUnpacks ? kInPlaceRows : V::kPairRows;
  static constexpr uint32_t kBlockQuads = 4;  // between prefetches, which cost too much at every quad

  template <uint32_t R, uint32_t P, Weights kWeights>
  __attribute__((noinline)) static void tile(const LinearArgs& args, uint32_t panel, uint32_t stride,
                                             uint32_t row, uint8_t* unpacked) {
    constexpr bool kUnpacked = kWeights == Weights::unpacked;
    constexpr size_t kStep = (kUnpacked ? P : 1) * kQuadBytes;
    const size_t columns = padded_columns(args);
    const char* w[P];
    const char* a[R];
    Dots<V, R, P> sum;
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      w[p] = kUnpacked ? reinterpret_cast<const char*>(unpacked) + p * kQuadBytes
                       : linear_panel(args, DType::q8c, panel + p * stride) + sizeof(HeadQ8c);
      ask_for_outputs<R>(args, panel + p * stride, row);
    });
    each<V, R>([&](uint32_t r) MOTE_INLINE { a[r] = linear_row(args, row + r); });
    start_by_sums<V, V::kWeightBias>(a, columns + offsetof(RowScale, sum), sum);
    const uint32_t prefetches = kAhead<P> ? (kBlockQuads * P * R + args.rows - 1) / args.rows : 0;
    WeightsAhead ahead(args, DType::q8c, panel, P, row, R, columns / (4 * kBlockQuads) * prefetches,
                       kRowsToL1);
    for (size_t block = 0; block != columns; block += 4 * kBlockQuads) {
      for (uint32_t i = 0; i < prefetches; ++i) ahead.prefetch();
      for (size_t k = block; k != block + 4 * kBlockQuads; k += 4) {
        Int quad[P][V::kVectors];
        each<V, P>([&](uint32_t p) MOTE_INLINE {
          each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
            const char* from = kUnpacked ? w[0] + p * kQuadBytes : w[p];
            quad[p][v] = V::load(from + v * (kQuadBytes / V::kVectors));
            if (!kUnpacked) quad[p][v] = biased<V>(quad[p][v]);
            if constexpr (kWeights == Weights::unpacking)
              V::store(unpacked + (k / 4 * P + p) * kQuadBytes, quad[p][v]);
          });
        });
        each<V, kUnpacked ? 1 : P>([&](uint32_t p) MOTE_INLINE { w[p] += kStep; });
        add_quad<V>(quad, a, k, sum);
      }
    }
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      const auto* head = reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel + p * stride));
      finish_tile<V, R>(args, row, panel + p * stride, [&](uint32_t r, uint32_t v) MOTE_INLINE {
        const Float scale_a = V::set(reinterpret_cast<const RowScale*>(a[r] + columns)->scale);
        return V::fma(V::mul(scale_a, V::load_f32(part<V>(head->scale, v))), V::convert(sum[p][r][v]),
                      V::set(0.0f));
      });
    });
  }

  static constexpr uint64_t scratch_bytes(const ScratchShape& shape) {
    return !V::kUnpacks || shape.rows <= kInPlaceRows ? 0 : unpacked_panels_bytes(shape.inputs);
  }
  static void prepare(const LinearArgs&, uint8_t*) {}
};

// ---- The walk over tiles. ----

/// All rows, in tiles of R.
template <class Kernel, uint32_t R, uint32_t P>
void tile_in_place(const LinearArgs& args, uint32_t panel, uint8_t* scratch) {
  each_tile<R>(args.rows, [&](auto rows, uint32_t row) {
    Kernel::template tile<rows, P, Weights::in_place>(args, panel, 1, row, scratch);
  });
}

/// Two panels by all rows, unpacked.
template <class Kernel>
void tile_unpacked(const LinearArgs& args, uint32_t panel, uint8_t* scratch) {
  constexpr uint32_t kRows = Kernel::kUnpackedRows;
  static_assert(2 * kRows <= kInPlaceRows + 1, "the first tile is a whole one");
  Kernel::template tile<kRows, 2, Weights::unpacking>(args, panel, 1, 0, scratch);
  each_tile<kRows>(args.rows - kRows, [&](auto rows, uint32_t row) {
    Kernel::template tile<rows, 2, Weights::unpacked>(args, panel, 1, kRows + row, scratch);
  });
}

template <class V, class Kernel>
constexpr uint64_t linear_dots_scratch(const ScratchShape& shape) {
  return align_up(Kernel::scratch_bytes(shape), kAlignment);
}

template <class V, class Kernel>
void linear_dots(const LinearArgs& args, Range panels, void* scratch) {
  static_assert(CheckDots<V>::kPasses);
  auto* to = static_cast<uint8_t*>(scratch);
  if (!args.scratch_is_ready) Kernel::prepare(args, to);  // without a pair too: the next call may have one
  if (args.rows == 1) {
    panels = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
      if constexpr (V::kRowPanels == kLinearStreams) {
        Kernel::template tile<1, kLinearStreams, Weights::in_place>(args, panel, stride, 0, to);
      } else {
        for (uint32_t i = 0; i < kLinearStreams; ++i)
          Kernel::template tile<1, 1, Weights::in_place>(args, panel + i * stride, 1, 0, to);
      }
    });
  }
  uint32_t panel = panels.begin;
  if (args.rows > 1 && args.rows <= Kernel::kMostPairRows) {
    if constexpr (Kernel::kPairRows > 1) {
      for (; panel + 2 <= panels.end; panel += 2)
        tile_in_place<Kernel, Kernel::kPairRows, 2>(args, panel, to);
    }
  } else if (V::kUnpacks && args.rows > kInPlaceRows) {
    if constexpr (V::kUnpacks) {
      for (; panel + 2 <= panels.end; panel += 2) tile_unpacked<Kernel>(args, panel, to);
    }
  }
  for (; panel < panels.end; ++panel) tile_in_place<Kernel, V::kSingleRows, 1>(args, panel, to);
}

}  // namespace
}  // namespace mote
