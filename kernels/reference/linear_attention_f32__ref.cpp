// SPDX-License-Identifier: Apache-2.0
//
// Linear attention. Each operation rounds once, expf within a unit in the last place.
#include "kernels/reference/recurrent.inl.h"

namespace mote::ref {
namespace {

/// The values that a unit keeps in its scratch.
struct HeadScratch {
  float* scaled;    // [E]
  float* features;  // [M]
  float* sums;      // [F + 1]
  float* state;     // [M, F + 1], of whole sequences
};

/// phi(z), z being [E].
void map_features(const LinearAttentionArgs& args, const float* z, const HeadScratch& scratch) {
  const uint32_t width = args.key_dim, features = args.state.rows;
  if (args.map == FeatureMap::elu_plus_one) {
    for (uint32_t e = 0; e < width; ++e) scratch.features[e] = z[e] > 0.0f ? z[e] + 1.0f : expf(z[e]);
    return;
  }
  const float divisor = sqrtf(sqrtf(static_cast<float>(width)));
  const float factor = 1.0f / sqrtf(static_cast<float>(features));
  float squares = 0.0f;
  for (uint32_t e = 0; e < width; ++e) {
    scratch.scaled[e] = z[e] / divisor;
    squares += scratch.scaled[e] * scratch.scaled[e];
  }
  const float* row = args.projection;
  for (uint32_t m = 0; m < features; ++m, row += width) {
    float dot = 0.0f;
    for (uint32_t e = 0; e < width; ++e) dot += row[e] * scratch.scaled[e];
    scratch.features[m] = expf(dot - 0.5f * squares) * factor;
  }
}

/// Adds row t's key and value to the state s.
void add_key(const LinearAttentionArgs& args, uint32_t head, uint32_t t, float* s,
             const HeadScratch& scratch) {
  const uint32_t width = args.value_dim();
  const float* const v = args.lanes.row(args.v, t) + size_t{head} * width;
  map_features(args, args.lanes.row(args.k, t) + size_t{head} * args.key_dim, scratch);
  for (uint32_t m = 0; m < args.state.rows; ++m, s += width + 1) {
    const float feature = scratch.features[m];
    for (uint32_t f = 0; f < width; ++f) s[f] += feature * v[f];
    s[width] += feature;
  }
}

/// Row t's output from the state s.
void answer(const LinearAttentionArgs& args, uint32_t head, uint32_t t, const float* s,
            const HeadScratch& scratch) {
  const uint32_t width = args.value_dim();
  map_features(args, args.lanes.row(args.q, t) + size_t{head} * args.key_dim, scratch);
  for (uint32_t f = 0; f <= width; ++f) scratch.sums[f] = 0.0f;
  for (uint32_t m = 0; m < args.state.rows; ++m, s += width + 1) {
    for (uint32_t f = 0; f <= width; ++f) scratch.sums[f] += scratch.features[m] * s[f];
  }
  float* const out = args.lanes.row(args.out, t) + size_t{head} * width;
  for (uint32_t f = 0; f < width; ++f) out[f] = scratch.sums[f] / scratch.sums[width];
}

void attend_whole(const LinearAttentionArgs& args, uint32_t unit, const HeadScratch& scratch) {
  const uint32_t heads = args.units_of_sequence(), head = unit % heads;
  const uint32_t* const start = args.starts + args.first + unit / heads;
  const uint32_t begin = start[0] - args.starts[args.first], end = start[1] - args.starts[args.first];
  memset(scratch.state, 0, size_t{args.state.rows} * args.state.cols * sizeof(float));
  for (uint32_t t = begin; t < end; ++t) add_key(args, head, t, scratch.state, scratch);
  for (uint32_t t = begin; t < end; ++t) answer(args, head, t, scratch.state, scratch);
}

void attend_causal(const LinearAttentionArgs& args, uint32_t unit, const HeadScratch& scratch) {
  const SequenceBlock own = block_of(args.rows, unit, args.units_of_sequence());
  const Range rows{own.block * args.state.rows, (own.block + 1) * args.state.rows};
  float* const s = begin_state(args.state, args.rows, own.sequence, rows, {0, args.state.cols});
  for (uint32_t t = args.rows.first[own.sequence]; t != kNoRow; t = args.rows.next[t]) {
    add_key(args, own.block, t, s, scratch);
    answer(args, own.block, t, s, scratch);
  }
}

}  // namespace

uint64_t linear_attention_f32_scratch(const ScratchShape& shape) {
  const uint64_t state = shape.inputs * shape.key_dim * shape.value_dim;
  return align_up((2 * uint64_t{shape.key_dim} + shape.value_dim + state) * sizeof(float), kAlignment);
}

void linear_attention_f32(const LinearAttentionArgs& args, Range units, void* scratch) {
  float* const floats = static_cast<float*>(scratch);
  float* const features = floats + args.key_dim;
  float* const sums = features + args.state.rows;
  const HeadScratch own{floats, features, sums, sums + args.state.cols};
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    if (args.whole) {
      attend_whole(args, unit, own);
    } else {
      attend_causal(args, unit, own);
    }
  }
}

}  // namespace mote::ref
