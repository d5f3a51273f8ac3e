// SPDX-License-Identifier: Apache-2.0
//
// x[t] += sixteen rows of a table, weighted by their distances to t's place. It is little of a model's work:
// no family has a kernel of its own.
#include "kernels/cubic_taps.h"
#include "kernels/ops.h"

namespace mote::ref {
namespace {

/// The rows of the table that a patch's positions are made of, and their weights.
struct WeighedRows {
  const float* rows[16];
  float weights[16];
};

WeighedRows rows_of_patch(const GridPositionsArgs& args, GridSize grid, uint32_t place) {
  const CubicTaps down = cubic_taps(args.stored.lines, grid.lines, place / grid.columns),
                  across = cubic_taps(args.stored.columns, grid.columns, place % grid.columns);
  WeighedRows weighed;
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t row = args.before + down.at[i / 4] * args.stored.columns + across.at[i % 4];
    weighed.rows[i] = args.table + size_t{row} * args.width;
    weighed.weights[i] = down.weights[i / 4] * across.weights[i % 4];
  }
  return weighed;
}

}  // namespace

void grid_positions_f32(const GridPositionsArgs& args, Range rows, void*) {
  uint32_t sequence = args.rows.first;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    sequence = args.rows.sequence_of(t, sequence);
    const GridRows::Span span = args.rows.rows_in(sequence);
    const GridSize grid = args.rows.grids[sequence];
    const uint32_t own = t - span.begin, left = span.end - t;  // t and those behind it
    float* x = args.x[t];
    if (own < args.before || left <= args.after) {
      const uint32_t stored = args.before + args.stored.lines * args.stored.columns + args.after;
      const float* row = args.table + size_t{own < args.before ? own : stored - left} * args.width;
      for (uint32_t i = 0; i < args.width; ++i) x[i] += row[i];
    } else if (own - args.before < grid.lines * grid.columns) {
      const WeighedRows weighed = rows_of_patch(args, grid, own - args.before);
      for (uint32_t i = 0; i < args.width; ++i) {
        float sum = 0;
        for (uint32_t tap = 0; tap < 16; ++tap) sum += weighed.weights[tap] * weighed.rows[tap][i];
        x[i] += sum;
      }
    }
  }
}

}  // namespace mote::ref
