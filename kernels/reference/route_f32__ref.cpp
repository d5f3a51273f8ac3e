// SPDX-License-Identifier: Apache-2.0
//
// Which experts a row goes to, and their weights.
#include <float.h>
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

/// Bits of numbers below kMaxExperts.
struct Set {
  uint64_t words[kMaxExperts / 64] = {};
  bool has(uint32_t i) const { return (words[i / 64] >> i % 64 & 1) != 0; }
  void add(uint32_t i) { words[i / 64] |= uint64_t{1} << i % 64; }
};

bool is_above(float a, float b) { return a > b || (isnan(b) && !isnan(a)); }

/// Adds the `count` of [begin, end) with the largest values, that `allowed` lets take part.
template <class Value, class Allowed>
void choose(uint32_t count, uint32_t begin, uint32_t end, Value value, Allowed allowed, Set* chosen) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t best = end;
    for (uint32_t e = begin; e < end; ++e) {
      if (chosen->has(e) || !allowed(e)) continue;
      if (best == end || is_above(value(e), value(best))) best = e;
    }
    if (best == end) return;
    chosen->add(best);
  }
}

/// The sum of the two largest values of [begin, end).
template <class Value>
float two_largest(uint32_t begin, uint32_t end, Value value) {
  Set two;
  choose(2, begin, end, value, [](uint32_t) { return true; }, &two);
  float sum = 0.0f;
  for (uint32_t e = begin; e < end; ++e) sum += two.has(e) ? value(e) : 0.0f;
  return sum;
}

/// in place: the softmax over those that take part.
template <class Part>
void softmax(float* values, uint32_t count, Part part) {
  float largest = -INFINITY, sum = 0.0f;
  for (uint32_t e = 0; e < count; ++e) {
    if (part(e) && is_above(values[e], largest)) largest = values[e];
  }
  for (uint32_t e = 0; e < count; ++e) {
    if (!part(e)) continue;
    values[e] = expf(values[e] - largest);
    sum += values[e];
  }
  for (uint32_t e = 0; e < count; ++e) {
    if (part(e)) values[e] /= sum;
  }
}

void scores(const RouteArgs& args, const float* logits, float* out) {
  for (uint32_t e = 0; e < args.experts; ++e)
    out[e] = args.scores == Scores::sigmoid ? 1.0f / (1.0f + expf(-logits[e])) : logits[e];
  if (args.scores == Scores::softmax) softmax(out, args.experts, [](uint32_t) { return true; });
}

Set chosen_experts(const RouteArgs& args, const float* values) {
  const auto value = [&](uint32_t e) { return values[e] + (args.bias != nullptr ? args.bias[e] : 0.0f); };
  const uint32_t size = args.experts / args.groups;
  Set groups, chosen;
  choose(
      args.groups_chosen, 0, args.groups,
      [&](uint32_t g) { return two_largest(g * size, (g + 1) * size, value); }, [](uint32_t) { return true; },
      &groups);
  choose(args.chosen, 0, args.experts, value, [&](uint32_t e) { return groups.has(e / size); }, &chosen);
  return chosen;
}

}  // namespace

void route_f32(const RouteArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    float* out = args.out[t];
    scores(args, args.logits[t], out);
    const Set chosen = chosen_experts(args, out);
    const auto is_chosen = [&](uint32_t e) { return chosen.has(e); };
    if (args.scores == Scores::softmax_of_chosen) softmax(out, args.experts, is_chosen);
    float sum = args.eps;
    for (uint32_t e = 0; e < args.experts; ++e) sum += is_chosen(e) ? out[e] : 0.0f;
    for (uint32_t e = 0; e < args.experts; ++e) {
      const float weight = (args.normalized ? out[e] / sum : out[e]) * args.factor;
      out[e] = !is_chosen(e) ? 0.0f : weight == 0.0f ? FLT_MIN : weight;
    }
  }
}

}  // namespace mote::ref
