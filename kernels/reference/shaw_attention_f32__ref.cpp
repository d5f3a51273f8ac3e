// SPDX-License-Identifier: Apache-2.0
//
// Attention with relative positions. Each operation rounds once, expf within a unit in the last place. The
// products of a query with the distances are computed once for all keys, and the weights of a distance are
// summed before the sum meets the distance's value: both take time in proportion to the reach.
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/recurrent_ops.h"

namespace mote::ref {
namespace {

/// The values that a unit keeps in its scratch.
struct ShawScratch {
  float* of_distance;  // [2 reach + 1]: products with the query, then sums of weights
  float* scores;       // [rows of the sequence]
};

constexpr uint32_t kNoTerm = UINT32_MAX;

uint32_t term_of(const ShawAttentionArgs& args, uint32_t i, uint32_t j) {
  const int64_t r = int64_t{args.reach} + j - i, most = 2 * int64_t{args.reach};
  if (r >= 0 && r <= most) return static_cast<uint32_t>(r);
  if (!args.beyond) return kNoTerm;
  return r < 0 ? 0 : static_cast<uint32_t>(most);
}

float product(const float* a, const float* b, uint32_t width) {
  float sum = 0.0f;
  for (uint32_t e = 0; e < width; ++e) sum += a[e] * b[e];
  return sum;
}

/// The scores of query row i with rows begin to end - 1; returns the largest.
float score_rows(const ShawAttentionArgs& args, uint32_t head, Range rows, uint32_t i,
                 const ShawScratch& scratch) {
  const size_t column = size_t{head} * args.key_dim;
  const float* const q = args.lanes.row(args.q, i) + column;
  for (uint32_t r = 0; r <= 2 * args.reach; ++r)
    scratch.of_distance[r] = product(q, args.keys + size_t{r} * args.key_dim, args.key_dim);
  float most = -FLT_MAX;
  for (uint32_t j = rows.begin; j < rows.end; ++j) {
    const uint32_t term = term_of(args, i, j);
    const float dot = product(q, args.lanes.row(args.k, j) + column, args.key_dim);
    const float score = args.scale * (dot + (term == kNoTerm ? 0.0f : scratch.of_distance[term]));
    scratch.scores[j - rows.begin] = score;
    if (score > most) most = score;
  }
  return most;
}

void attend_row(const ShawAttentionArgs& args, uint32_t head, Range rows, uint32_t i,
                const ShawScratch& scratch) {
  const size_t column = size_t{head} * args.value_dim;
  float* const out = args.lanes.row(args.out, i) + column;
  const float most = score_rows(args, head, rows, i, scratch);
  memset(scratch.of_distance, 0, (2 * size_t{args.reach} + 1) * sizeof(float));
  memset(out, 0, args.value_dim * sizeof(float));
  float sum = 0.0f;
  for (uint32_t j = rows.begin; j < rows.end; ++j) {
    const float weight = expf(scratch.scores[j - rows.begin] - most);
    const float* const v = args.lanes.row(args.v, j) + column;
    const uint32_t term = term_of(args, i, j);
    sum += weight;
    if (term != kNoTerm) scratch.of_distance[term] += weight;
    for (uint32_t e = 0; e < args.value_dim; ++e) out[e] += weight * v[e];
  }
  const float* value = args.values;
  for (uint32_t r = 0; r <= 2 * args.reach; ++r, value += args.value_dim) {
    for (uint32_t e = 0; e < args.value_dim; ++e) out[e] += scratch.of_distance[r] * value[e];
  }
  for (uint32_t e = 0; e < args.value_dim; ++e) out[e] /= sum;
}

}  // namespace

uint64_t shaw_attention_f32_scratch(const ScratchShape& shape) {
  return align_up((shape.inputs + shape.rows) * sizeof(float), kAlignment);
}

void shaw_attention_f32(const ShawAttentionArgs& args, Range units, void* scratch) {
  float* const floats = static_cast<float*>(scratch);
  const ShawScratch own{floats, floats + 2 * size_t{args.reach} + 1};
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const uint32_t* const start = args.starts + args.first + unit / args.heads;
    const Range rows{start[0] - args.starts[args.first], start[1] - args.starts[args.first]};
    for (uint32_t i = rows.begin; i < rows.end; ++i) attend_row(args, unit % args.heads, rows, i, own);
  }
}

}  // namespace mote::ref
