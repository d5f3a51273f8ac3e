// SPDX-License-Identifier: Apache-2.0
//
// The gated delta rule. Each operation rounds once, expf and log1pf within a unit in the last place.
#include "kernels/reference/recurrent.inl.h"

namespace mote::ref {
namespace {

/// out = scale * in / sqrt(sum of squares + eps).
void normalise(const float* in, uint32_t width, float eps, float scale, float* out) {
  float sum = 0.0f;
  for (uint32_t e = 0; e < width; ++e) sum += in[e] * in[e];
  const float divisor = sqrtf(sum + eps);
  for (uint32_t e = 0; e < width; ++e) out[e] = scale * (in[e] / divisor);
}

/// out[f] = the sum over e of s[e][f] x[e].
void multiply(const float* s, const float* x, uint32_t rows, uint32_t width, float* out) {
  for (uint32_t f = 0; f < width; ++f) out[f] = 0.0f;
  for (uint32_t e = 0; e < rows; ++e, s += width) {
    for (uint32_t f = 0; f < width; ++f) out[f] += s[f] * x[e];
  }
}

/// The values that a unit keeps in its scratch for a row.
struct RowScratch {
  float *q, *k;   // [E]
  float* change;  // [F]
};

/// One row of a head. `s`: its state, [E, F].
void step(const GatedDeltaArgs& args, uint32_t head, uint32_t t, float* s, const RowScratch& scratch) {
  const uint32_t keys = args.state.rows, width = args.state.cols;
  const uint32_t key_head = head / (args.state.heads / args.key_heads);
  const float* const v = args.lanes.row(args.v, t) + size_t{head} * width;
  normalise(args.lanes.row(args.q, t) + size_t{key_head} * keys, keys, args.eps, args.scale, scratch.q);
  normalise(args.lanes.row(args.k, t) + size_t{key_head} * keys, keys, args.eps, 1.0f, scratch.k);
  const float d = softplus(args.lanes.row(args.dt, t)[head] + value_or_0(args.dt_bias, head));
  const float a = expf(args.decay[head] * d);
  const float w = 1.0f / (1.0f + expf(-args.lanes.row(args.beta, t)[head]));
  for (size_t i = 0; i < size_t{keys} * width; ++i) s[i] *= a;
  multiply(s, scratch.k, keys, width, scratch.change);
  for (uint32_t f = 0; f < width; ++f) scratch.change[f] = w * (v[f] - scratch.change[f]);
  for (uint32_t e = 0; e < keys; ++e) {
    for (uint32_t f = 0; f < width; ++f) s[size_t{e} * width + f] += scratch.k[e] * scratch.change[f];
  }
  multiply(s, scratch.q, keys, width, args.lanes.row(args.out, t) + size_t{head} * width);
}

}  // namespace

uint64_t gated_delta_f32_scratch(const ScratchShape& shape) {
  return align_up((2 * uint64_t{shape.key_dim} + shape.value_dim) * sizeof(float), kAlignment);
}

void gated_delta_f32(const GatedDeltaArgs& args, Range units, void* scratch) {
  const FixedStateView& state = args.state;
  float* const floats = static_cast<float*>(scratch);
  const RowScratch row{floats, floats + state.rows, floats + 2 * size_t{state.rows}};
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const SequenceBlock own = block_of(args.rows, unit, args.units_of_sequence());
    const Range rows{own.block * state.rows, (own.block + 1) * state.rows};
    float* const s = begin_state(state, args.rows, own.sequence, rows, {0, state.cols});
    for (uint32_t t = args.rows.first[own.sequence]; t != kNoRow; t = args.rows.next[t])
      step(args, own.block, t, s, row);
  }
}

}  // namespace mote::ref
