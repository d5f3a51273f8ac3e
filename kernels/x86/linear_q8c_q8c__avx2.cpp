// SPDX-License-Identifier: Apache-2.0
//
// Linear with q8c activations: the exact int32 dot product of all of K, then fma(scale_a * scale_w, dot, 0).
//
// The product of signed bytes takes sign, maddubs, madd and add for each 4 columns, 8 outputs and row. Most
// quads of columns need fewer operations (quad_plan_avx2.inl.h): weights plus 128 need no sign, and the int16
// sums of two such quads share a madd and an add. The excess of 128 times the sum of the activations is
// subtracted at the end; int32 sums may wrap before that.
//
// A tile is R rows by one panel: with R = 4 the 8 sums, four vectors of weights, two words, the ones and a
// temporary take 16 registers. Quads are visited in the order of the tile's plan, all of one kind after the
// other, so that no branch depends on data. A thread makes the plans of all rows before its first panel. A
// single row is bound by memory: it has no plan, and reads kLinearStreams panels side by side. Rows with an
// activation of -128 have no plan either, and are multiplied one by one. There are no tails: K is padded to
// 64 and N to 16 in the file.
#include "kernels/x86/quad_plan_avx2.inl.h"

namespace mote::avx2 {
namespace {

constexpr uint32_t kRows = 4;  // of a tile
/// From so many rows on only one of many tiles waits for a panel, and prefetching the next would cost more.
constexpr uint32_t kManyRows = 192;

MOTE_INLINE inline __m256i load_plus_128(const int8_t w[][4]) {
  return _mm256_xor_si256(load_bytes(w), _mm256_set1_epi8(-128));
}

/// sum += x in place: in the loops below GCC 12 adds in another register and copies the result back.
MOTE_INLINE inline void add_in_place(__m256i& sum, __m256i x) {
  __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(x));
}

/// sum[r][h] += the products of 8 columns, weights plus 128.
template <uint32_t R>
MOTE_INLINE inline void add_two(const QuadQ8c* quads, const int8_t* const a[R], __m256i sum[R][kHalves]) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i u[2][kHalves];
  MOTE_UNROLL for (uint32_t i = 0; i < 2; ++i) {
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) u[i][h] = load_plus_128(quads[i].q + 8 * h);
  }
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    const __m256i first = broadcast_word(a[r]), second = broadcast_word(a[r] + 4);
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      const __m256i pairs =
          _mm256_add_epi16(_mm256_maddubs_epi16(u[0][h], first), _mm256_maddubs_epi16(u[1][h], second));
      add_in_place(sum[r][h], _mm256_madd_epi16(pairs, ones));
    }
  }
}

/// sum[r][h] += the products of 4 columns, weights plus 128.
template <uint32_t R>
MOTE_INLINE inline void add_one(const QuadQ8c& quad, const int8_t* const a[R], __m256i sum[R][kHalves]) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i u[kHalves];
  MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) u[h] = load_plus_128(quad.q + 8 * h);
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    const __m256i word = broadcast_word(a[r]);
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      add_in_place(sum[r][h], _mm256_madd_epi16(_mm256_maddubs_epi16(u[h], word), ones));
    }
  }
}

/// dot[r] = row r times the panel. Not inlined: inlined into the tile, GCC 12 keeps the sums in memory.
template <uint32_t R, class Ahead>
__attribute__((noinline)) void planned_dots(const QuadQ8c* quads, const int8_t* const rows[R],
                                            const QuadPlan& plan, Ahead ahead, __m256i dot[R][kHalves]) {
  const int8_t* a[R];
  __m256i sum[R][kHalves];
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    a[r] = rows[r];
    sum[r][0] = sum[r][1] = _mm256_setzero_si256();
  }
  const int8_t* words[R];
  const auto from = [&](size_t column) {
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) words[r] = a[r] + column;
    return words;
  };
  for (const uint16_t* two = plan.twos; two != plan.twos_end; ++two) {
    ahead.prefetch();
    ahead.prefetch();
    add_two<R>(quads + size_t{2} * *two, from(size_t{8} * *two), sum);
  }
  for (const uint16_t* one = plan.ones; one != plan.ones_end; ++one) {
    ahead.prefetch();
    add_one<R>(quads[*one], from(size_t{4} * *one), sum);
  }
  for (const uint16_t* sign = plan.signs; sign != plan.signs_end; ++sign) {
    ahead.prefetch();
    add_quad<R>(quads[*sign].q, from(size_t{4} * *sign), sum);
  }
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    const __m256i excess = _mm256_slli_epi32(_mm256_set1_epi32(static_cast<int32_t>(plan.excess[r])), 7);
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) dot[r][h] = _mm256_sub_epi32(sum[r][h], excess);
  }
}

/// dot[p] = row `a` times panel p; kLowest: activations may be -128.
template <uint32_t P, bool kLowest>
__attribute__((noinline)) void row_dots(const QuadQ8c* const panels[P], const int8_t* a, size_t columns,
                                        __m256i dot[P][1][kHalves]) {
  const QuadQ8c* quads[P];
  __m256i sum[P][1][kHalves];
  MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
    quads[p] = panels[p];
    sum[p][0][0] = sum[p][0][1] = _mm256_setzero_si256();
  }
  for (const int8_t* end = a + columns; a != end; a += 4) {
    MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
      if constexpr (kLowest) {
        add_widened_quad<1>((quads[p]++)->q, &a, sum[p]);
      } else {
        add_quad<1>((quads[p]++)->q, &a, sum[p]);
      }
    }
  }
  MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) dot[p][0][h] = sum[p][0][h];
  }
}

/// A panel and the rows that a tile takes with it.
template <uint32_t R>
struct Operands {
  const HeadQ8c* head;
  const QuadQ8c* quads;
  const int8_t* a[R];
  size_t columns;

  Operands(const LinearArgs& args, uint32_t panel, uint32_t row)
      : head(reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel))),
        quads(reinterpret_cast<const QuadQ8c*>(head + 1)),
        columns(activation_padded(args.inputs)) {
    for (uint32_t r = 0; r < R; ++r) a[r] = reinterpret_cast<const int8_t*>(linear_row(args, row + r));
    ask_for_outputs<R>(args, panel, row);
  }
};

template <uint32_t R>
void finish(const LinearArgs& args, uint32_t panel, uint32_t row, const Operands<R>& of,
            const __m256i dot[R][kHalves]) {
  PanelSums<R> sums;
  MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
    const __m256 scale_w = _mm256_load_ps(of.head->scale + 8 * h);
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
      const __m256 scale_a = _mm256_set1_ps(reinterpret_cast<const RowScale*>(of.a[r] + of.columns)->scale);
      const __m256 sum = _mm256_fmadd_ps(_mm256_mul_ps(scale_a, scale_w), _mm256_cvtepi32_ps(dot[r][h]),
                                         _mm256_setzero_ps());
      _mm256_store_ps(sums.row[r] + 8 * h, sum);
    }
  }
  linear_finish<Floats256>(args, row, R, panel, sums.row[0]);
}

/// The panels `panel`, `panel` + stride, ... of the only row.
template <uint32_t P, bool kLowest>
void row_tile(const LinearArgs& args, uint32_t panel, uint32_t stride) {
  const QuadQ8c* quads[P];
  __m256i dot[P][1][kHalves];
  for (uint32_t p = 0; p < P; ++p) quads[p] = Operands<1>(args, panel + p * stride, 0).quads;
  const Operands<1> first(args, panel, 0);
  row_dots<P, kLowest>(quads, first.a[0], first.columns, dot);
  for (uint32_t p = 0; p < P; ++p) {
    finish<1>(args, panel + p * stride, 0, Operands<1>(args, panel + p * stride, 0), dot[p]);
  }
}

template <bool kLowest>
void only_row(const LinearArgs& args, Range panels) {
  const Range rest = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
    row_tile<kLinearStreams, kLowest>(args, panel, stride);
  });
  for (uint32_t panel = rest.begin; panel < rest.end; ++panel) row_tile<1, kLowest>(args, panel, 0);
}

/// dot[r] = row r times the panel, whatever the activations.
template <uint32_t R>
void unplanned_dots(const Operands<R>& of, __m256i dot[R][kHalves]) {
  for (uint32_t r = 0; r < R; ++r) {
    __m256i of_row[1][1][kHalves];
    row_dots<1, true>(&of.quads, of.a[r], of.columns, of_row);
    for (uint32_t h = 0; h < kHalves; ++h) dot[r][h] = of_row[0][0][h];
  }
}

/// each_tile, with the plan of each tile.
template <class Step>
void each_planned_tile(uint32_t rows, uint8_t* plan, size_t plan_bytes, const Step& step) {
  each_tile<kRows>(rows, [&](auto r, uint32_t row) {
    step(r, row, reinterpret_cast<QuadPlan*>(plan));
    plan += plan_bytes;
  });
}

}  // namespace

/// The plans of all tiles.
uint64_t linear_q8c_q8c_scratch(const ScratchShape& shape) {
  if (shape.rows <= 1) return 0;
  return align_up((shape.rows + kRows - 1) / kRows * quad_plan_bytes(activation_padded(shape.inputs)),
                  kAlignment);
}

void linear_q8c_q8c(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows == 1) {
    return has_lowest(args) ? only_row<true>(args, panels) : only_row<false>(args, panels);
  }
  const size_t columns = activation_padded(args.inputs), bytes = quad_plan_bytes(columns);
  uint8_t* plans = static_cast<uint8_t*>(scratch);
  if (!args.scratch_is_ready) {
    each_planned_tile(args.rows, plans, bytes, [&](auto r, uint32_t row, QuadPlan* plan) {
      constexpr uint32_t R = r;
      plan_quads<R>(Operands<R>(args, 0, row).a, columns, plan);
    });
  }
  for (uint32_t panel = panels.begin; panel < panels.end; ++panel) {
    each_planned_tile(args.rows, plans, bytes, [&](auto r, uint32_t row, QuadPlan* plan) {
      constexpr uint32_t R = r;
      const Operands<R> of(args, panel, row);
      __m256i dot[R][kHalves];
      if (plan->twos == nullptr) {
        unplanned_dots<R>(of, dot);
      } else if (R == kRows && args.rows >= kManyRows) {
        planned_dots<R>(of.quads, of.a, *plan, NothingAhead(), dot);
      } else {
        const WeightsAhead ahead(args, DType::q8c, panel, 1, row, R, columns / 4, kL1Rows);
        planned_dots<R>(of.quads, of.a, *plan, ahead, dot);
      }
      finish<R>(args, panel, row, of, dot);
    });
  }
}

}  // namespace mote::avx2
