// SPDX-License-Identifier: Apache-2.0
//
// Mamba-2's scan. Each operation rounds once, expf and log1pf within a unit in the last place; the state's
// decay bounds how far errors of earlier rows reach.
#include "kernels/reference/recurrent.inl.h"

namespace mote::ref {
namespace {

/// One row of a head. `s`: its state, [N, P].
void step(const SsmScanArgs& args, uint32_t head, uint32_t t, float* s) {
  const uint32_t n_count = args.state.rows, width = args.state.cols;
  const uint32_t group = head / (args.state.heads / args.groups);
  const float* const x = args.lanes.row(args.x, t) + size_t{head} * width;
  const float* const b = args.lanes.row(args.b, t) + size_t{group} * n_count;
  const float* const c = args.lanes.row(args.c, t) + size_t{group} * n_count;
  float* const out = args.lanes.row(args.out, t) + size_t{head} * width;
  float d = softplus(args.lanes.row(args.dt, t)[head] + value_or_0(args.dt_bias, head));
  if (d < args.dt_min) d = args.dt_min;
  if (d > args.dt_max) d = args.dt_max;
  const float a = expf(args.decay[head] * d), skip = value_or_0(args.skip, head);
  for (uint32_t p = 0; p < width; ++p) out[p] = skip * x[p];
  for (uint32_t n = 0; n < n_count; ++n, s += width) {
    for (uint32_t p = 0; p < width; ++p) {
      s[p] = a * s[p] + b[n] * (d * x[p]);
      out[p] += s[p] * c[n];
    }
  }
}

}  // namespace

void ssm_scan_f32(const SsmScanArgs& args, Range units, void*) {
  const FixedStateView& state = args.state;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const SequenceBlock own = block_of(args.rows, unit, args.units_of_sequence());
    const Range rows{own.block * state.rows, (own.block + 1) * state.rows};
    float* const s = begin_state(state, args.rows, own.sequence, rows, {0, state.cols});
    for (uint32_t t = args.rows.first[own.sequence]; t != kNoRow; t = args.rows.next[t])
      step(args, own.block, t, s);
  }
}

}  // namespace mote::ref
