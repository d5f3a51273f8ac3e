// SPDX-License-Identifier: Apache-2.0
//
// Linear of quantized weights by smmla, which multiplies 8 columns of two rows by two outputs: 2 x 2 sums in
// a vector, [row 0: output 0, 1; row 1: output 0, 1]. Fewer rows than kSmmlaRows go to sdot.
//
// Scratch has the activations of all rows, pair by pair, and a panel at a time, output pair by output pair;
// nibbles less their offset, as in linear_tiles.inl.h. Scales are there as the 2 x 2 sums need them. An odd
// row at a tile's end has a row of zeros beside it.
//
// A tile is 8 rows by half a panel: 16 int32 sums, 4 vectors of weights and 4 of activations are 24
// registers; float sums wait in memory. A tile of q8c has no float sums.
#pragma once

#include "kernels/arm/linear_rows.inl.h"
#include "kernels/arm/sdot.inl.h"

namespace mote {
namespace {

constexpr uint32_t kSmmlaRows = 6;
constexpr uint32_t kTilePairs = 4;               // of rows
constexpr uint32_t kHalfPairs = kPanelRows / 4;  // of outputs, in half a panel
constexpr uint32_t kSteps = kGroupColumns / 8;

struct alignas(16) Pairs {
  int8_t columns[2][8];
};
struct alignas(16) Square {
  float of[4];
};

/// A group of half a panel.
struct HalfGroup {
  Pairs weights[kSteps][kHalfPairs];
  Square scale[2][kHalfPairs];  // then the minimum
};

/// A group of P pairs of rows: share is scale * sum.
template <uint32_t P>
struct PairGroup {
  Pairs activations[kSteps][P];
  Square scale[P], share[P];
};

static inline float32x4_t square(const Square& from) { return vld1q_f32(from.of); }
static inline int8x16_t pairs(const Pairs& from) { return vld1q_s8(from.columns[0]); }
static inline size_t groups_of(const LinearArgs& args) { return padded_columns(args) / kGroupColumns; }

constexpr uint64_t half_groups_bytes(uint64_t inputs) {
  return 2 * (activation_padded(inputs) / kGroupColumns) * sizeof(HalfGroup);
}
/// Two tiles may end with an odd row.
constexpr uint64_t smmla_scratch(const ScratchShape& shape) {
  const uint64_t pair_groups = (shape.rows / 2 + 2) * (activation_padded(shape.inputs) / kGroupColumns);
  return half_groups_bytes(shape.inputs) + pair_groups * sizeof(PairGroup<1>);
}

// ---- What is laid out ----

/// Rows [row, row + R).
template <uint32_t R, bool kGrouped>
static void lay_out_pairs(const LinearArgs& args, uint32_t row, PairGroup<(R + 1) / 2>* to) {
  const size_t groups = groups_of(args);
  for (uint32_t r = 0; r < 2 * ((R + 1) / 2); ++r) {
    const char* in = linear_row(args, row + (r < R ? r : 0));
    const auto* scale = reinterpret_cast<const float*>(in + scales_at(args));
    const auto* sum = reinterpret_cast<const int32_t*>(in + sums_at(args));
    for (size_t g = 0; g < groups; ++g) {
      for (uint32_t step = 0; step < kSteps; ++step) {
        int8_t* pair = to[g].activations[step][r / 2].columns[r % 2];
        if (r < R) {
          memcpy(pair, in + g * kGroupColumns + 8 * step, 8);
        } else {
          memset(pair, 0, 8);
        }
      }
      if constexpr (kGrouped) {
        const float s = r < R ? scale[g] : 0.0f, share = r < R ? s * static_cast<float>(sum[g]) : 0.0f;
        for (uint32_t i = 0; i < 2; ++i) {
          to[g].scale[r / 2].of[2 * (r % 2) + i] = s;
          to[g].share[r / 2].of[2 * (r % 2) + i] = share;
        }
      }
    }
  }
}

/// The bytes of 4 outputs by 8 columns, from the words of the first 4 columns and of the next.
static inline void store_pairs(int8x16_t first, int8x16_t next, Pairs* to) {
  const int32x4_t a = vreinterpretq_s32_s8(first), b = vreinterpretq_s32_s8(next);
  vst1q_s8(to[0].columns[0], vreinterpretq_s8_s32(vzip1q_s32(a, b)));
  vst1q_s8(to[1].columns[0], vreinterpretq_s8_s32(vzip2q_s32(a, b)));
}

/// Vector v of half h of a panel.
static inline void unpack_step(const int8_t (&q)[8][16][4], uint32_t step, uint32_t at, Pairs* to) {
  store_pairs(vld1q_s8(q[2 * step][at]), vld1q_s8(q[2 * step + 1][at]), to);
}
template <uint32_t offset>
static inline void unpack_step(const uint8_t (&nibbles)[4][16][4], uint32_t step, uint32_t at, Pairs* to) {
  const uint8x16_t w = vld1q_u8(nibbles[step][at]);
  const int8x16_t eight = vdupq_n_s8(offset);
  store_pairs(vsubq_s8(vreinterpretq_s8_u8(vandq_u8(w, vdupq_n_u8(15))), eight),
              vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(w, 4)), eight), to);
}

static inline void store_squares(float32x4_t four, Square* to) {
  const float64x2_t two = vreinterpretq_f64_f32(four);
  vst1q_f32(to[0].of, vreinterpretq_f32_f64(vdupq_laneq_f64(two, 0)));
  vst1q_f32(to[1].of, vreinterpretq_f32_f64(vdupq_laneq_f64(two, 1)));
}

/// A panel: its first half's groups, then the other's.
template <class Format>
static void unpack_halves(const LinearArgs& args, uint32_t panel, HalfGroup* to) {
  const size_t groups = groups_of(args);
  const auto* cell =
      reinterpret_cast<const typename Format::Supercell*>(linear_panel(args, Format::kDType, panel));
  const auto* ahead = reinterpret_cast<const char*>(cell + groups / 2);  // the next panel
  for (size_t g = 0; g < groups; ++g) {
    const auto& from = cell[g / 2];
    const size_t in_cell = g % 2;
    for (size_t line = 0; line < sizeof from / 2; line += 64, ahead += 64) __builtin_prefetch(ahead, 0, 2);
    for (uint32_t v = 0; v < kPanelVectors; ++v) {
      HalfGroup& half = to[v / 2 * groups + g];
      store_squares(InPlace<Format>::scale(from, in_cell, v), half.scale[0] + v % 2 * 2);
      if constexpr (Format::kMinimum)
        store_squares(InPlace<Format>::minimum(from, in_cell, v), half.scale[1] + v % 2 * 2);
      for (uint32_t step = 0; step < kSteps; ++step) {
        Pairs* pairs_to = half.weights[step] + v % 2 * 2;
        if constexpr (Format::kBiased) {
          unpack_step(from.q[in_cell], step, 4 * v, pairs_to);
        } else {
          unpack_step<Format::kOffset>(from.nibbles[in_cell], step, 4 * v, pairs_to);
        }
      }
    }
  }
}

static inline void unpack_halves_q8c(const LinearArgs& args, uint32_t panel, HalfGroup* to) {
  const size_t groups = groups_of(args);
  const auto* q =
      reinterpret_cast<const int8_t(*)[8][16][4]>(linear_panel(args, DType::q8c, panel) + sizeof(HeadQ8c));
  for (size_t g = 0; g < groups; ++g) {
    const auto* ahead = reinterpret_cast<const char*>(q + g + groups);
    for (size_t line = 0; line < sizeof *q; line += 64) __builtin_prefetch(ahead + line, 0, 2);
    for (uint32_t v = 0; v < kPanelVectors; ++v) {
      for (uint32_t step = 0; step < kSteps; ++step)
        unpack_step(q[g], step, 4 * v, to[v / 2 * groups + g].weights[step] + v % 2 * 2);
    }
  }
}

// ---- Tiles of P pairs of rows by half a panel ----

template <uint32_t P>
using Squares = int32x4_t[P][kHalfPairs];

template <uint32_t P, class Body>
MOTE_INLINE inline void each_square(const Body& body) {
  each_constant<P>([&](auto p)
                       MOTE_INLINE { each_constant<kHalfPairs>([&](auto w) MOTE_INLINE { body(p, w); }); });
}

template <uint32_t P>
MOTE_INLINE inline void begin(Squares<P>& d) {
  each_square<P>([&](auto p, auto w) MOTE_INLINE { d[p][w] = start_vector(kSumStart); });
}

template <uint32_t P>
MOTE_INLINE inline void multiply_group(const HalfGroup& weights, const PairGroup<P>& rows, Squares<P>& d) {
  each_constant<kSteps>([&](auto step) MOTE_INLINE {
    int8x16_t w[kHalfPairs];
    each_constant<kHalfPairs>([&](auto i) MOTE_INLINE { w[i] = pairs(weights.weights[step][i]); });
    each_constant<P>([&](auto p) MOTE_INLINE {
      const int8x16_t a = pairs(rows.activations[step][p]);
      each_constant<kHalfPairs>([&](auto i) MOTE_INLINE {
        d[p][i] = vmmlaq_s32(d[p][i], a, w[i]);
        MOTE_ORDER(d[p][i]);
      });
    });
  });
}

/// acc += a group's products, scaled.
template <bool kMinimum, uint32_t P>
MOTE_INLINE inline void scale_squares(const HalfGroup& weights, const PairGroup<P>& rows, const Squares<P>& d,
                                      Square (&acc)[P][kHalfPairs]) {
  each_constant<P>([&](auto p) MOTE_INLINE {
    each_constant<kHalfPairs>([&](auto w) MOTE_INLINE {
      const float32x4_t scale = vmulq_f32(square(rows.scale[p]), square(weights.scale[0][w]));
      float32x4_t sum = vfmaq_f32(square(acc[p][w]), scale, Sdot::to_float(d[p][w]));
      if constexpr (kMinimum) sum = vfmaq_f32(sum, square(weights.scale[1][w]), square(rows.share[p]));
      vst1q_f32(acc[p][w].of, sum);
    });
    __asm__ volatile("" ::: "memory");  // sums have no registers
  });
}

/// The sums of a half's outputs, to those of a panel's rows.
template <uint32_t R>
static void store_rows(const Square (&acc)[(R + 1) / 2][kHalfPairs], uint32_t half, PanelSums<R>& sums) {
  for (uint32_t r = 0; r < R; ++r) {
    for (uint32_t w = 0; w < kHalfPairs; ++w)
      memcpy(sums.row[r] + half * kPanelRows / 2 + 2 * w, acc[r / 2][w].of + 2 * (r % 2), 2 * sizeof(float));
  }
}

template <bool kMinimum, uint32_t R>
__attribute__((noinline)) void group_squares(const LinearArgs& args, uint32_t panel, uint32_t row,
                                             const HalfGroup* weights, const PairGroup<(R + 1) / 2>* rows) {
  constexpr uint32_t P = (R + 1) / 2;
  PanelSums<R> sums;
  const size_t groups = groups_of(args);
  ask_for_outputs<R>(args, panel, row);
  for (uint32_t half = 0; half < 2; ++half) {
    Square acc[P][kHalfPairs] = {};
    const PairGroup<P>* in = rows;
    for (const HalfGroup* end = weights + groups; weights != end; ++weights, ++in) {
      Squares<P> d;
      begin<P>(d);
      multiply_group<P>(*weights, *in, d);
      scale_squares<kMinimum, P>(*weights, *in, d, acc);
    }
    store_rows<R>(acc, half, sums);
  }
  finish_tile_of<R>(args, row, panel, sums.row);
}

/// Multiplies rows by weights of q8c.
template <uint32_t R>
__attribute__((noinline)) void row_squares(const LinearArgs& args, uint32_t panel, uint32_t row,
                                           const HalfGroup* weights, const PairGroup<(R + 1) / 2>* rows) {
  constexpr uint32_t P = (R + 1) / 2;
  PanelSums<R> sums;
  const size_t groups = groups_of(args), columns = padded_columns(args);
  ask_for_outputs<R>(args, panel, row);
  for (uint32_t half = 0; half < 2; ++half) {
    int32_t total[P][kHalfPairs][4] =
        {};  // in memory from turn to turn: GCC 12 moves what it keeps in registers
    const PairGroup<P>* in = rows;
    for (const HalfGroup* end = weights + groups; weights != end; weights += 2, in += 2) {
      Squares<P> d;
      each_square<P>([&](auto p, auto w) MOTE_INLINE { d[p][w] = vld1q_s32(total[p][w]); });
      multiply_group<P>(weights[0], in[0], d);
      multiply_group<P>(weights[1], in[1], d);
      each_square<P>([&](auto p, auto w) MOTE_INLINE { vst1q_s32(total[p][w], d[p][w]); });
      __asm__ volatile("" ::: "memory");
    }
    Square acc[P][kHalfPairs];
    each_square<P>([&](auto p, auto w)
                       MOTE_INLINE { vst1q_f32(acc[p][w].of, vcvtq_f32_s32(vld1q_s32(total[p][w]))); });
    store_rows<R>(acc, half, sums);
  }
  const auto* head = reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel));
  for (uint32_t r = 0; r < R; ++r) {
    const float scale_a = reinterpret_cast<const RowScale*>(linear_row(args, row + r) + columns)->scale;
    for (uint32_t v = 0; v < kPanelVectors; ++v) {
      float* sum = sums.row[r] + 4 * v;
      const float32x4_t scale = vmulq_n_f32(vld1q_f32(head->scale + 4 * v), scale_a);
      vst1q_f32(sum, vfmaq_f32(vdupq_n_f32(0), scale, vld1q_f32(sum)));
    }
  }
  finish_tile_of<R>(args, row, panel, sums.row);
}

// ---- The walk over tiles ----

/// unpack(panel, to), then tile(rows as a constant, panel, row, weights, pairs) for all tiles of each panel.
template <bool kGrouped, class Unpack, class Tile>
static void each_square_tile(const LinearArgs& args, Range panels, void* scratch, const Unpack& unpack,
                             const Tile& tile) {
  auto* weights = static_cast<HalfGroup*>(scratch);
  auto* rows = reinterpret_cast<PairGroup<1>*>(static_cast<char*>(scratch) + half_groups_bytes(args.inputs));
  const auto pairs_at = [&](uint32_t row) { return rows + (row + 1) / 2 * groups_of(args); };
  if (!args.scratch_is_ready) {
    each_tile<2 * kTilePairs>(args.rows, [&](auto count, uint32_t row) {
      lay_out_pairs<count, kGrouped>(args, row, reinterpret_cast<PairGroup<(count + 1) / 2>*>(pairs_at(row)));
    });
  }
  for (uint32_t panel = panels.begin; panel < panels.end; ++panel) {
    unpack(panel, weights);
    each_tile<2 * kTilePairs>(args.rows, [&](auto count, uint32_t row) {
      tile(count, panel, row, weights, reinterpret_cast<const PairGroup<(count + 1) / 2>*>(pairs_at(row)));
    });
  }
}

template <class Format>
constexpr uint64_t linear_groups_smmla_scratch(const ScratchShape& shape) {
  const uint64_t few = linear_groups_scratch<Sdot, Format>(shape);
  const uint64_t many = shape.rows < kSmmlaRows ? 0 : align_up(smmla_scratch(shape), kAlignment);
  return few < many ? many : few;
}

template <class Format>
void linear_groups_smmla(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows < kSmmlaRows) return linear_groups<Sdot, Format>(args, panels, scratch);
  each_square_tile<true>(
      args, panels, scratch, [&](uint32_t panel, HalfGroup* to) { unpack_halves<Format>(args, panel, to); },
      [&](auto count, uint32_t panel, uint32_t row, const HalfGroup* weights, const auto* rows) {
        group_squares<Format::kMinimum, count>(args, panel, row, weights, rows);
      });
}

static inline uint64_t linear_rows_smmla_scratch(const ScratchShape& shape) {
  return shape.rows < kSmmlaRows ? 0 : align_up(smmla_scratch(shape), kAlignment);
}

static inline void linear_rows_smmla(const LinearArgs& args, Range panels, void* scratch) {
  if (args.rows < kSmmlaRows) return linear_rows<Sdot>(args, panels, scratch);
  each_square_tile<false>(
      args, panels, scratch, [&](uint32_t panel, HalfGroup* to) { unpack_halves_q8c(args, panel, to); },
      [&](auto count, uint32_t panel, uint32_t row, const HalfGroup* weights, const auto* rows) {
        row_squares<count>(args, panel, row, weights, rows);
      });
}

}  // namespace
}  // namespace mote
