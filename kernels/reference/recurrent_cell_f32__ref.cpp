// SPDX-License-Identifier: Apache-2.0
//
// Recurrent cells. Each operation rounds once, expf and tanhf within a unit in the last place.
#include "kernels/reference/recurrent.inl.h"

namespace mote::ref {
namespace {

float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

/// g = bias + the sum over e of h[e] weight[e].
void multiply(const RecurrentCellArgs& args, const float* h, uint32_t width, float* g) {
  for (uint32_t i = 0; i < width; ++i) g[i] = value_or_0(args.bias, i);
  const float* weight = args.weight;
  for (uint32_t e = 0; e < args.state.cols; ++e, weight += width) {
    for (uint32_t i = 0; i < width; ++i) g[i] += h[e] * weight[i];
  }
}

void lstm(const float* x, const float* g, uint32_t width, float* h, float* c) {
  for (uint32_t i = 0; i < width; ++i) {
    const uint32_t f = width + i, n = 2 * width + i, o = 3 * width + i;
    c[i] = logistic(x[f] + g[f]) * c[i] + logistic(x[i] + g[i]) * tanhf(x[n] + g[n]);
    h[i] = logistic(x[o] + g[o]) * tanhf(c[i]);
  }
}

void gru(const float* x, const float* g, uint32_t width, float* h) {
  for (uint32_t i = 0; i < width; ++i) {
    const uint32_t at_z = width + i, at_n = 2 * width + i;
    const float z = logistic(x[at_z] + g[at_z]);
    const float n = tanhf(x[at_n] + logistic(x[i] + g[i]) * g[at_n]);
    h[i] = (1.0f - z) * n + z * h[i];
  }
}

/// One row. `h`: what the sequence has, behind it the c of lstm.
void step(const RecurrentCellArgs& args, uint32_t t, float* h, float* g) {
  const uint32_t width = args.state.cols;
  const float* const x = args.lanes.row(args.in, t);
  multiply(args, h, gates_of(args.kind) * width, g);
  switch (args.kind) {
    case CellKind::rnn:
      for (uint32_t i = 0; i < width; ++i) h[i] = tanhf(x[i] + g[i]);
      break;
    case CellKind::lstm:
      lstm(x, g, width, h, h + width);
      break;
    case CellKind::gru:
      gru(x, g, width, h);
      break;
  }
  memcpy(args.lanes.row(args.out, t), h, width * sizeof(float));
}

}  // namespace

uint64_t recurrent_cell_f32_scratch(const ScratchShape& shape) {
  return align_up(uint64_t{shape.value_dim} * sizeof(float), kAlignment);
}

void recurrent_cell_f32(const RecurrentCellArgs& args, Range units, void* scratch) {
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const SequenceBlock own = block_of(args.rows, unit, args.units_of_sequence());
    float* const h =
        begin_state(args.state, args.rows, own.sequence, {0, args.state.rows}, {0, args.state.cols});
    for (uint32_t t = args.rows.first[own.sequence]; t != kNoRow; t = args.rows.next[t])
      step(args, t, h, static_cast<float*>(scratch));
  }
}

}  // namespace mote::ref
