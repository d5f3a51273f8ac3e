// SPDX-License-Identifier: Apache-2.0
//
// Mamba's scan. Each operation rounds once, expf and log1pf within a unit in the last place.
#include "kernels/reference/recurrent.inl.h"

namespace mote::ref {
namespace {

/// One row of `channels`. `s`: the state of the first of them, a row of the whole state behind the other.
void step(const SelectiveScanArgs& args, Range channels, uint32_t t, float* s) {
  const uint32_t width = channels.end - channels.begin, stride = args.state.cols;
  const float* const x = args.lanes.row(args.x, t) + channels.begin;
  const float* const dt = args.lanes.row(args.dt, t) + channels.begin;
  const float* const b = args.lanes.row(args.b, t);
  const float* const c = args.lanes.row(args.c, t);
  float* const out = args.lanes.row(args.out, t) + channels.begin;
  const float* decay = args.decay + channels.begin;
  float d[kChannelBlock];
  for (uint32_t i = 0; i < width; ++i) {
    d[i] = softplus(dt[i] + value_or_0(args.dt_bias, channels.begin + i));
    out[i] = value_or_0(args.skip, channels.begin + i) * x[i];
  }
  for (uint32_t n = 0; n < args.state.rows; ++n, s += stride, decay += stride) {
    for (uint32_t i = 0; i < width; ++i) {
      s[i] = expf(decay[i] * d[i]) * s[i] + b[n] * (d[i] * x[i]);
      out[i] += s[i] * c[n];
    }
  }
}

}  // namespace

void selective_scan_f32(const SelectiveScanArgs& args, Range units, void*) {
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const SequenceBlock own = block_of(args.rows, unit, args.units_of_sequence());
    const uint32_t first = own.block * kChannelBlock, left = args.state.cols - first;
    const Range channels{first, first + (left < kChannelBlock ? left : kChannelBlock)};
    float* const s = begin_state(args.state, args.rows, own.sequence, {0, args.state.rows}, channels);
    for (uint32_t t = args.rows.first[own.sequence]; t != kNoRow; t = args.rows.next[t])
      step(args, channels, t, s);
  }
}

}  // namespace mote::ref
