// SPDX-License-Identifier: Apache-2.0
//
// out[t] = four places of in, weighted by their distances to t's. It is little of a model's work: no family
// has a kernel of its own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

/// Where a place lies between two of another picture, in one direction.
struct Between {
  uint32_t first, second;
  float of_first, of_second;
};

Between between(uint32_t place, uint32_t count, uint32_t out_count) {
  const float scale =
      out_count > 1 ? static_cast<float>(count - 1) / static_cast<float>(out_count - 1) : 0.0f;
  const float at = scale * static_cast<float>(place);
  uint32_t first = static_cast<uint32_t>(at);
  if (first > count - 1) first = count - 1;
  const float part = at - static_cast<float>(first);
  return {first, first + (first < count - 1 ? 1 : 0), 1.0f - part, part};
}

}  // namespace

void grid_resize_f32(const GridResizeArgs& args, Range rows, void*) {
  uint32_t sequence = args.rows.first;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    sequence = args.rows.sequence_of(t, sequence);
    const GridRows::Span span = args.rows.rows_in(sequence);
    const uint32_t begin = args.rows.begin_out(sequence), end = args.rows.begin_out(sequence + 1);
    const GridSize from = args.rows.size_of(sequence, args.scale, args.columns, span.end - span.begin);
    const GridSize to = args.rows.size_of(sequence, args.out_scale, args.out_columns, end - begin);
    const uint32_t y = (t - begin) / to.columns, x = (t - begin) % to.columns;
    float* out = args.out[t];
    if (from.lines == 0 || y >= to.lines) {
      memset(out, 0, args.width * sizeof(float));
      continue;
    }
    const Between down = between(y, from.lines, to.lines), across = between(x, from.columns, to.columns);
    const uint32_t upper = span.begin + down.first * from.columns,
                   lower = span.begin + down.second * from.columns;
    const float *a = args.in[upper + across.first], *b = args.in[upper + across.second],
                *c = args.in[lower + across.first], *d = args.in[lower + across.second];
    for (uint32_t i = 0; i < args.width; ++i)
      out[i] = down.of_first * (across.of_first * a[i] + across.of_second * b[i]) +
               down.of_second * (across.of_first * c[i] + across.of_second * d[i]);
  }
}

}  // namespace mote::ref
