// SPDX-License-Identifier: Apache-2.0
//
// Linear by q8g32 activations of the formats whose groups have integer scales (decoded_formats.inl.h), for
// the walk of linear_dots.inl.h. A tile first decodes a supercell's scales to floats: as many operations as a
// fourth of one row's products, and once for all rows of a tile. In place they go to the stack; unpacked
// weights have them in scratch.
//
// Steps of 16 columns multiply the exact int32 products of their half of a group, so a group takes one fma.
// Where weights are unsigned, the products of a half start at -32 times the sum of its activations. These
// sums are in no activation row: each call adds them up in scratch, once for all its panels.
#pragma once

#include "kernels/simd/decoded_formats.inl.h"
#include "kernels/simd/linear_dots.inl.h"

namespace mote {
namespace {

/// Places in scratch, in bytes. Each is of the rows or of two panels.
struct DecodedPlaces {
  uint64_t starts;  // int32 [rows][groups][2]: of products of halves
  uint64_t sums;    // float [rows][groups], as lay_out_groups has them: scale * sum of a row's group
  uint64_t bytes;   // two panels unpacked
  uint64_t scales;  // Scales [groups, of whole supercells][2]
  uint64_t end;
};

template <class V, class Format>
struct DecodedKernel {
  using Supercell = typename Format::Supercell;
  using Scales = typename Format::Scales;
  using Int = typename V::Int;
  using Float = typename V::Float;
  static constexpr bool kHalves = Format::kParts == 2;
  static constexpr bool kStarts = kHalves && V::kWeightBias != 0;
  /// Rows of an unpacked tile: sums of halves take more registers.
  static constexpr uint32_t kUnpackedRows = kHalves ? 4 : 6;
  static constexpr uint32_t kPairRows = V::kPairRows, kMostPairRows = V::kPairRows;
  static constexpr uint32_t kGroupLines = (sizeof(Supercell) / Format::kGroups + 63) / 64;  // rounded up
  static constexpr uint32_t kPartQuads = 8 / Format::kParts;

  template <uint32_t R, uint32_t P>
  using Parts = Dots<V, R, P>[Format::kParts];

  static constexpr DecodedPlaces places(uint64_t inputs, uint64_t rows) {
    const uint64_t groups = activation_padded(inputs) / kGroupColumns, each = rows * groups * 4;
    const bool many = V::kUnpacks && rows > kInPlaceRows;
    DecodedPlaces at = {};
    at.sums = kStarts ? align_up(2 * each, kAlignment) : 0;
    at.bytes = at.sums + (many && Format::kMinimum ? align_up(each, kAlignment) : 0);
    at.scales = at.bytes + (many ? unpacked_panels_bytes(inputs) : 0);
    at.end = at.scales + (many ? 2 * align_up(groups, Format::kGroups) * sizeof(Scales) : 0);
    return at;
  }
  static constexpr uint64_t scratch_bytes(const ScratchShape& shape) {
    return places(shape.inputs, shape.rows).end;
  }

  /// Stores in scratch what does not depend on the panel.
  static void prepare(const LinearArgs& args, uint8_t* scratch) {
    const DecodedPlaces at = places(args.inputs, args.rows);
    if constexpr (kStarts) prepare_starts(args, reinterpret_cast<int32_t*>(scratch + at.starts));
    if constexpr (Format::kMinimum && V::kUnpacks) {
      if (args.rows <= kInPlaceRows) return;
      lay_out_groups<kUnpackedRows>(args, reinterpret_cast<float*>(scratch + at.sums),
                                    [](float scale, int32_t sum) { return scale * static_cast<float>(sum); });
    }
  }
  static void prepare_starts(const LinearArgs& args, int32_t* to) {
    const size_t columns = padded_columns(args);
    for (uint32_t row = 0; row < args.rows; ++row) {
      const auto* q = reinterpret_cast<const int8_t*>(linear_row(args, row));
      for (const int8_t* end = q + columns; q != end; q += kGroupColumns / 2) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < kGroupColumns / 2; ++i) sum += q[i];
        *to++ = -static_cast<int32_t>(Format::kOffset) * sum;
      }
    }
  }

  // ---- A group of P panels ----

  /// start_of(r, i) is where the products of part i of row r start.
  template <uint32_t R, uint32_t P, class StartOf>
  MOTE_INLINE static void begin(const StartOf& start_of, Parts<R, P>& dots) {
    each<V, Format::kParts>([&](uint32_t i) MOTE_INLINE {
      start<V>([&](uint32_t r) MOTE_INLINE { return start_of(r, i); }, dots[i]);
    });
  }

  template <uint32_t R>
  MOTE_INLINE static void add_in_place(const Supercell& cell, size_t g, const char* const (&in)[R], size_t at,
                                       Parts<R, 1>& dots) {
    each_index<8>([&](auto j) MOTE_INLINE {
      constexpr uint32_t kQuad = j;
      Int w[1][V::kVectors];
      each<V, V::kVectors>([&](uint32_t v)
                               MOTE_INLINE { w[0][v] = Format::template quad<V, kQuad>(cell, g, v); });
      add_quad<V>(w, in, at + 4 * j, dots[j / kPartQuads]);
    });
  }

  /// Adds the products of two panels quad by quad.
  template <uint32_t R, uint32_t P>
  MOTE_INLINE static void add_bytes(const uint8_t* bytes, const char* const (&in)[R], size_t at,
                                    Parts<R, P>& dots) {
    each_index<8>([&](auto j) MOTE_INLINE {
      Int w[P][V::kVectors];
      each<V, P>([&](uint32_t p) MOTE_INLINE {
        each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
          w[p][v] = V::load(bytes + (j * P + p) * kQuadBytes + v * (kQuadBytes / V::kVectors));
        });
      });
      add_quad<V>(w, in, at + 4 * j, dots[j / kPartQuads]);
    });
  }

  static void unpack_group(const Supercell& cell, size_t g, uint8_t* to) {
    each_index<8>([&](auto j) MOTE_INLINE {
      constexpr uint32_t kQuad = j;
      each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
        V::store(to + kQuad * 2 * kQuadBytes + v * (kQuadBytes / V::kVectors),
                 Format::template quad<V, kQuad>(cell, g, v));
      });
    });
  }

  /// acc[r] += the products of panel p, scaled; sum_of(r) is float(sum) * scale of row r.
  template <uint32_t R, uint32_t P, class SumOf>
  MOTE_INLINE static void scale(const Scales& scales, uint32_t p, const char* const (&in)[R], size_t scale_at,
                                const SumOf& sum_of, const Parts<R, P>& dots, Float (&acc)[R][V::kVectors]) {
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
      const Float scale_w = V::load_f32(part<V>(scales.scale, v));
      each<V, R>([&](uint32_t r) MOTE_INLINE {
        const Float scale_a = V::set(*reinterpret_cast<const float*>(in[r] + scale_at));
        Int d = dots[0][p][r][v];
        if constexpr (kHalves) {
          d = V::plus(V::times(d, V::load(part<V>(scales.step[0], v))),
                      V::times(dots[1][p][r][v], V::load(part<V>(scales.step[1], v))));
        }
        acc[r][v] = V::fma(V::mul(scale_a, scale_w), V::convert(d), acc[r][v]);
        if constexpr (Format::kMinimum)
          acc[r][v] = V::fma(V::load_f32(part<V>(scales.minimum, v)), sum_of(r), acc[r][v]);
      });
    });
  }

  // ---- Tiles, as in linear_dots.inl.h ----

  /// Where a tile is in its rows and in scratch.
  struct At {
    size_t q, scale, sum;  // bytes from the start of a row
    const char* starts;    // of the tile's first row and the group
    size_t starts_bytes;   // from row to row
    const float* sums;
    uint8_t* bytes;
    Scales* scales;
  };

  static At begin_at(const LinearArgs& args, uint32_t row, uint8_t* scratch) {
    const DecodedPlaces places_of = places(args.inputs, args.rows);
    const size_t groups = padded_columns(args) / kGroupColumns;
    At at = {0, scales_at(args), sums_at(args), nullptr, groups * 8, nullptr, nullptr, nullptr};
    if constexpr (kStarts)
      at.starts = reinterpret_cast<const char*>(scratch + places_of.starts) + row * at.starts_bytes;
    if constexpr (V::kUnpacks) {
      at.sums = reinterpret_cast<const float*>(scratch + places_of.sums) + row * groups;
      at.bytes = scratch + places_of.bytes;
      at.scales = reinterpret_cast<Scales*>(scratch + places_of.scales);
    }
    return at;
  }

  template <uint32_t R, uint32_t P, bool kUnpacked>
  MOTE_INLINE static void add_group(const Supercell* const (&cell)[P], size_t g, const Scales* scales,
                                    const char* const (&in)[R], const At& at,
                                    Float (&acc)[P][R][V::kVectors]) {
    const auto start_of = [&]([[maybe_unused]] uint32_t r, [[maybe_unused]] uint32_t i) MOTE_INLINE {
      if constexpr (kStarts) {
        return V::broadcast_word(at.starts + r * at.starts_bytes + 4 * i);
      } else {
        return V::zero();
      }
    };
    if constexpr (kUnpacked) {
      Parts<R, P> dots;
      begin<R, P>(start_of, dots);
      add_bytes<R, P>(at.bytes, in, at.q, dots);
      const auto sum_of = [&](uint32_t r) MOTE_INLINE { return V::set(at.sums[r]); };
      each<V, P>([&](uint32_t p)
                     MOTE_INLINE { scale<R, P>(scales[p], p, in, at.scale, sum_of, dots, acc[p]); });
    } else {
      const auto sum_of = [&](uint32_t r) MOTE_INLINE {
        const auto sum = *reinterpret_cast<const int32_t*>(in[r] + at.sum);
        const Float scale_a = V::set(*reinterpret_cast<const float*>(in[r] + at.scale));
        return V::mul(scale_a, V::convert(V::set(sum)));
      };
      each<V, P>([&](uint32_t p) MOTE_INLINE {
        Parts<R, 1> dots;
        begin<R, 1>(start_of, dots);
        add_in_place<R>(*cell[p], g, in, at.q, dots);
        scale<R, 1>(scales[p * Format::kGroups], 0, in, at.scale, sum_of, dots, acc[p]);
      });
    }
  }

  template <uint32_t R, uint32_t P, Weights kWeights>
  __attribute__((noinline)) static void tile(const LinearArgs& args, uint32_t panel, uint32_t stride,
                                             uint32_t row, uint8_t* scratch) {
    constexpr bool kUnpacked = kWeights != Weights::in_place;
    const Supercell* cell[P];
    const char* in[R];
    Float acc[P][R][V::kVectors];
    Scales decoded[kUnpacked ? 1 : P * Format::kGroups];
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      cell[p] = reinterpret_cast<const Supercell*>(linear_panel(args, Format::kDType, panel + p * stride));
      each<V, R>([&](uint32_t r) MOTE_INLINE {
        in[r] = linear_row(args, row + r);
        each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE { acc[p][r][v] = V::set(0.0f); });
      });
    });
    for (uint32_t p = 0; p < P; ++p) ask_for_outputs<R>(args, panel + p * stride, row);
    const size_t columns = padded_columns(args);
    At at = begin_at(args, row, scratch);
    const uint32_t prefetches = kAhead<P> ? (kGroupLines * P * R + args.rows - 1) / args.rows : 0;
    WeightsAhead ahead(args, Format::kDType, panel, P, row, R, columns / kGroupColumns * prefetches,
                       kRowsToL1);
    while (at.q != columns) {
      if constexpr (kWeights == Weights::in_place) {
        for (uint32_t p = 0; p < P; ++p)
          Format::template decode<V>(*cell[p], decoded + p * Format::kGroups, 1);
      } else if constexpr (kWeights == Weights::unpacking) {
        for (uint32_t p = 0; p < P; ++p) Format::template decode<V>(*cell[p], at.scales + p, P);
      }
      for (size_t g = 0; g < Format::kGroups && at.q != columns; ++g) {
        for (uint32_t i = 0; i < prefetches; ++i) ahead.prefetch();
        if constexpr (kWeights == Weights::unpacking) {
          for (uint32_t p = 0; p < P; ++p) unpack_group(*cell[p], g, at.bytes + p * kQuadBytes);
        }
        add_group<R, P, kUnpacked>(cell, g, kUnpacked ? at.scales + g * P : decoded + g, in, at, acc);
        at.q += kGroupColumns;
        at.scale += sizeof(float);
        at.sum += sizeof(int32_t);
        if (kStarts) at.starts += 8;
        if (kUnpacked) at.sums += R;
        if (kUnpacked) at.bytes += kGroupColumns * kPanelRows * P;
      }
      if (kUnpacked) at.scales += Format::kGroups * P;
      each<V, P>([&](uint32_t p) MOTE_INLINE { ++cell[p]; });
    }
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      finish_tile<V, R>(args, row, panel + p * stride,
                        [&](uint32_t r, uint32_t v) MOTE_INLINE { return acc[p][r][v]; });
    });
  }
};

}  // namespace
}  // namespace mote
