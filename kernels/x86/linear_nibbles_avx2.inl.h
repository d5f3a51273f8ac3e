// SPDX-License-Identifier: Apache-2.0
//
// Linear with q8g32 activations and nibbles: maddubs takes them as unsigned bytes, and the int16 sums of its
// products fit for a whole group.
//
// 4 columns of 8 outputs and a row take a maddubs and an addition. A group takes a madd, a conversion, a
// multiplication and an fma more, and a second fma with minima. The offset of 8 is subtracted by the value
// that the sums start from.
//
// A tile is 6 rows by one panel: 12 sums, two vectors of weights, a word and a product take 16 registers. Up
// to kInPlaceRows rows it reads nibbles in place. For more rows each panel is first unpacked to scratch, quad
// by quad behind each group's scales as floats; the scales and sums of the rows' groups are laid out once for
// all panels.
#pragma once

#include <type_traits>

#include "kernels/x86/linear_integer_avx2.inl.h"

namespace mote::avx2 {

constexpr uint32_t kInPlaceRows = 12;

/// 4 times a sum, in each int16.
static inline __m256i four_times(int32_t sum) {
  return _mm256_slli_epi16(_mm256_set1_epi16(static_cast<int16_t>(sum)), 2);
}

/// The weights: kDType, in a supercell; kMinimum, with a minimum or with an offset of 8.
template <DType dtype, class Cell>
struct Nibbles {
  using Supercell = Cell;
  static constexpr DType kDType = dtype;
  static constexpr bool kMinimum = dtype == DType::q4mg32;
  static constexpr uint32_t kRows = 6;  // of a tile
  static constexpr size_t kAsks = 4;

  /// Outputs 8 h to 8 h + 7 of the quad of columns: low nibbles hold columns 8 j to 8 j + 3, high ones the
  /// next 4.
  MOTE_INLINE static __m256i weights(const Supercell& cell, size_t g, uint32_t quad, uint32_t h) {
    __m256i w = load_bytes(cell.nibbles[g][quad / 2][8 * h]);
    if (quad % 2 != 0) w = _mm256_srli_epi16(w, 4);
    return _mm256_and_si256(w, _mm256_set1_epi8(15));
  }

  /// sum[h] += the products of a quad. Where weights have an offset of 8, a group starts at minus 4 times the
  /// sum of its activations: half of the offset's share for each of the two int16 sums of an output. After n
  /// products a sum has n terms (nibble - 4) * a and 32 - n terms -4 * a, so its magnitude is at most 128 (11
  /// n + 4 (32 - n)), which is 30720 for all 16. Without an offset it is at most 128 * 15 * 16 = 30720.
  MOTE_INLINE static void add_quad(const __m256i w[kHalves], __m256i word, bool first, __m256i four_sums,
                                   __m256i sum[kHalves]) {
    __m256i product[kHalves];
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) product[h] = _mm256_maddubs_epi16(w[h], word);
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      if (!first) {
        sum[h] = _mm256_add_epi16(sum[h], product[h]);
      } else {
        sum[h] = kMinimum ? product[h] : _mm256_sub_epi16(product[h], four_sums);
      }
      MOTE_PIN(sum[h]);
    }
  }

  template <uint32_t R, uint32_t P, class Ahead>
  MOTE_INLINE static void dot(const Supercell* const cell[P], size_t g, const int8_t* const a[R],
                              const int32_t* const sum_a[R], Ahead& ahead, __m256i out[P][R][kHalves]) {
    MOTE_UNROLL for (uint32_t quad = 0; quad < 8; ++quad) {
      if (quad % 2 == 0) MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) ahead.prefetch();
      MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
        __m256i w[kHalves];
        MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) w[h] = weights(*cell[p], g, quad, h);
        MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
          add_quad(w, broadcast_word(a[r] + 4 * quad), quad == 0, four_times(*sum_a[r]), out[p][r]);
        }
      }
    }
    MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
      MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
        MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
          out[p][r][h] = _mm256_madd_epi16(out[p][r][h], _mm256_set1_epi16(1));
        }
      }
    }
  }

  // ---- For many rows ----

  /// A group of a panel. Minima are behind the scales.
  struct alignas(32) Unpacked {
    float scale[kMinimum ? 2 : 1][kPanelRows];
    uint8_t quads[8][kPanelRows][4];
  };

  /// A row's values of a group: `share` is scale * sum, the factor of minima, or four_times the sum, in 32
  /// bits.
  struct RowGroup {
    float scale;
    std::conditional_t<kMinimum, float, uint32_t> share;
  };

  static RowGroup row_group(float scale, int32_t sum) {
    if constexpr (kMinimum) {
      return {scale, scale * static_cast<float>(sum)};
    } else {
      return {scale, (static_cast<uint32_t>(sum) * 4 & 0xffff) * 0x10001};
    }
  }

  static constexpr uint64_t scratch_bytes(const ScratchShape& shape) {
    return activation_padded(shape.inputs) / kGroupColumns *
           (sizeof(Unpacked) + shape.rows * sizeof(RowGroup));
  }

  static size_t groups(const LinearArgs& args) { return activation_padded(args.inputs) / kGroupColumns; }

  static void unpack(const LinearArgs& args, uint32_t panel, Unpacked* to) {
    const auto* cell = reinterpret_cast<const Supercell*>(linear_panel(args, kDType, panel));
    for (const Unpacked* end = to + groups(args); to != end; ++cell) {
      for (size_t g = 0; g < 2; ++g, ++to) {
        MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
          _mm256_store_ps(to->scale[0] + 8 * h, load8(cell->scale[g] + 8 * h));
          if constexpr (kMinimum) _mm256_store_ps(to->scale[1] + 8 * h, load8(cell->minimum[g] + 8 * h));
          MOTE_UNROLL for (uint32_t quad = 0; quad < 8; ++quad) {
            _mm256_store_si256(reinterpret_cast<__m256i*>(to->quads[quad][8 * h]),
                               weights(*cell, g, quad, h));
          }
        }
      }
    }
  }

  /// acc[r] = the products of the panel from `w` to `end` with row r, which begins at `in` + r * stride.
  template <uint32_t R>
  __attribute__((noinline)) static void unpacked_sums(const Unpacked* w, const Unpacked* end, const char* in,
                                                      size_t stride, const RowGroup* of, uint32_t prefetches,
                                                      WeightsAhead ahead, float acc[R][kPanelRows]) {
    const int8_t* a[R];
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) a[r] = reinterpret_cast<const int8_t*>(in + r * stride);
    for (size_t k = 0; w != end; ++w, of += R, k += kGroupColumns) {
      for (uint32_t i = 0; i < prefetches; ++i) ahead.prefetch();
      __m256i dot[R][kHalves];
      MOTE_UNROLL for (uint32_t quad = 0; quad < 8; ++quad) {
        __m256i u[kHalves];
        MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) u[h] = load_bytes(w->quads[quad][8 * h]);
        MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
          const __m256i four_sums = broadcast_word(reinterpret_cast<const int8_t*>(&of[r].share));
          add_quad(u, broadcast_word(a[r] + k + 4 * quad), quad == 0, four_sums, dot[r]);
        }
      }
      MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
        const __m256 scale_a = _mm256_broadcast_ss(&of[r].scale);
        MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
          const __m256 d = _mm256_cvtepi32_ps(_mm256_madd_epi16(dot[r][h], _mm256_set1_epi16(1)));
          __m256 sum = _mm256_fmadd_ps(_mm256_mul_ps(scale_a, _mm256_load_ps(w->scale[0] + 8 * h)), d,
                                       _mm256_load_ps(acc[r] + 8 * h));
          if constexpr (kMinimum) {
            sum =
                _mm256_fmadd_ps(_mm256_load_ps(w->scale[1] + 8 * h), _mm256_broadcast_ss(&of[r].share), sum);
          }
          _mm256_store_ps(acc[r] + 8 * h, sum);
          __asm__ volatile("" ::: "memory");  // as in add_group
        }
      }
    }
  }

  static void unpacked_linear(const LinearArgs& args, Range panels, void* scratch) {
    constexpr uint32_t kGroupLines = (sizeof(Supercell) / 2 + 63) / 64;  // rounded up
    auto* unpacked = static_cast<Unpacked*>(scratch);
    auto* row_groups = reinterpret_cast<RowGroup*>(unpacked + groups(args));
    if (!args.scratch_is_ready) lay_out_groups<kRows>(args, row_groups, row_group);
    for (uint32_t panel = panels.begin; panel < panels.end; ++panel) {
      unpack(args, panel, unpacked);
      each_tile<kRows>(args.rows, [&](auto rows, uint32_t row) {
        constexpr uint32_t R = rows;
        alignas(32) float acc[R][kPanelRows] = {};
        const uint32_t prefetches = (kGroupLines * R + args.rows - 1) / args.rows;
        const WeightsAhead ahead(args, kDType, panel, 1, row, R, groups(args) * prefetches, UINT32_MAX);
        ask_for_outputs<R>(args, panel, row);
        unpacked_sums<R>(unpacked, unpacked + groups(args), linear_row(args, row), args.in_stride_bytes,
                         row_groups + row * groups(args), prefetches, ahead, acc);
        linear_finish<Floats256>(args, row, R, panel, acc[0]);
      });
    }
  }
};

/// Scratch of many rows: an unpacked panel, and the values that rows need of each group.
template <class Format>
constexpr uint64_t linear_nibbles_scratch(const ScratchShape& shape) {
  return shape.rows <= kInPlaceRows ? 0 : align_up(Format::scratch_bytes(shape), kAlignment);
}

template <class Format>
static inline void linear_nibbles(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows > kInPlaceRows) {
    Format::unpacked_linear(args, panels, scratch);
  } else {
    integer_linear<Format>(args, panels);
  }
}

}  // namespace mote::avx2
