// SPDX-License-Identifier: Apache-2.0
//
// Linear of q8c by tiles of R rows and one panel, multiplied by M (linear_tiles.inl.h): int32 sums over all
// columns, and at their end the scales of row and output.
#pragma once

#include "kernels/arm/linear_tiles.inl.h"

namespace mote {
namespace {

template <class M, uint32_t R, bool kAlone>
__attribute__((noinline)) void row_tile(const LinearArgs& args, uint32_t panel, uint32_t row) {
  const size_t columns = padded_columns(args);
  const auto* head = reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel));
  const auto* quads = reinterpret_cast<const QuadQ8c*>(head + 1);
  const char* a[R];
  each_constant<R>([&](auto r) MOTE_INLINE { a[r] = linear_row(args, row + r); });
  [[maybe_unused]] const char* const end = a[0] + columns;
  typename M::template Rows<R> sums;
  ask_for_outputs<R>(args, panel, row);
  constexpr uint32_t kTurnQuads = kSupercellColumns / 4;
  struct Cell {
    QuadQ8c quads[kTurnQuads];
  };
  const auto prefetches = static_cast<uint32_t>((kTurnQuads * R + args.rows - 1) / args.rows);
  CellsAhead<Cell, kAlone> ahead = {
      prefetches,
      WeightsAhead(args, DType::q8c, panel, 1, row, R, columns / kSupercellColumns * prefetches, kRowsToL1)};
  if constexpr (M::template kTakesRows<R>) {
    sums.take(quads, a, columns / kSupercellColumns, prefetches, ahead.ahead);
  } else {
    sums.begin();
    while (a[0] != end) {
      ahead.prefetch(reinterpret_cast<const Cell*>(quads));
      sums.add(quads, a);
      quads += kTurnQuads;
      each_constant<R>([&](auto r) MOTE_INLINE { a[r] += kSupercellColumns; });
    }
  }
  PanelSums<R> acc;
  each_constant<R>([&](auto r) MOTE_INLINE {
    const float scale_a = reinterpret_cast<const RowScale*>(a[r])->scale;
    each_constant<kPanelVectors>([&](auto v) MOTE_INLINE {
      const float32x4_t scale = vmulq_n_f32(vld1q_f32(head->scale + 4 * v), scale_a);
      vst1q_f32(acc.row[r] + 4 * v, vfmaq_f32(vdupq_n_f32(0), scale, vcvtq_f32_s32(sums.sum(r, v))));
    });
  });
  finish_tile_of<R>(args, row, panel, acc.row);
}

template <class M>
void linear_rows(const LinearArgs& args, Range panels, void*) {
  if (args.rows == 1) {
    panels = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
      for (uint32_t i = 0; i < kLinearStreams; ++i) row_tile<M, 1, true>(args, panel + i * stride, 0);
    });
    for (uint32_t panel = panels.begin; panel < panels.end; ++panel) row_tile<M, 1, true>(args, panel, 0);
    return;
  }
  for (uint32_t panel = panels.begin; panel < panels.end; ++panel) {
    each_tile<M::kRows>(args.rows,
                        [&](auto rows, uint32_t row) { row_tile<M, rows, false>(args, panel, row); });
  }
}

}  // namespace
}  // namespace mote
