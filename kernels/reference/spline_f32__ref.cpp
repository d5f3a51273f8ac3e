// SPDX-License-Identifier: Apache-2.0
//
// The inverse of a rational-quadratic spline (Durkan et al. 2019). Within a bin of width w, height h and
// slope s = h / w, whose ends have slopes d0 and d1, the share r of the width at a height of y is the root in
// 0..1 of
//   a r^2 + b r + c = 0,  a = h (s - d0) + y e,  b = h d0 - y e,  c = -s y,  e = d0 + d1 - 2 s.
// A row is of a few bins, so no family has a kernel of its own.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

/// Shares of `bins` bins, each of kLeastBin and of its part by softmax of what they leave.
void shares_of(const float* logits, uint32_t bins, float* shares) {
  float most = logits[0], sum = 0.0f;
  for (uint32_t i = 1; i < bins; ++i) most = logits[i] > most ? logits[i] : most;
  for (uint32_t i = 0; i < bins; ++i) sum += shares[i] = expf(logits[i] - most);
  const float left = 1.0f - kLeastBin * static_cast<float>(bins);
  for (uint32_t i = 0; i < bins; ++i) shares[i] = kLeastBin + left * (shares[i] / sum);
}

/// The ends of a bin in a square of sides +-bound; the last bin ends with the square.
struct Bin {
  float begin, end;
};
Bin bin_at(const float* shares, uint32_t bins, uint32_t index, float before, float bound) {
  const float begin = index == 0 ? -bound : 2.0f * bound * before - bound;
  return {begin, index + 1 == bins ? bound : 2.0f * bound * (before + shares[index]) - bound};
}

float softplus(float x) { return x > 20.0f ? x : log1pf(expf(x)); }

/// Returns the slope at knot `index`, 0 and `bins` being the corners of the square.
float slope_at(const float* logits, uint32_t bins, uint32_t index) {
  return index == 0 || index == bins ? 1.0f : kLeastBin + softplus(logits[index - 1]);
}

float invert(const SplineArgs& args, const float* curve, float in) {
  const uint32_t bins = args.bins;
  float widths[kMaxBins], heights[kMaxBins];
  shares_of(curve, bins, widths);
  shares_of(curve + bins, bins, heights);
  uint32_t index = 0;
  float wide = 0.0f, high = 0.0f;
  Bin rise = bin_at(heights, bins, 0, 0.0f, args.bound);
  while (index + 1 < bins && in >= rise.end) {
    wide += widths[index];
    high += heights[index];
    ++index;
    rise = bin_at(heights, bins, index, high, args.bound);
  }
  const Bin run = bin_at(widths, bins, index, wide, args.bound);
  const float w = run.end - run.begin, h = rise.end - rise.begin, s = h / w, y = in - rise.begin;
  const float d0 = slope_at(curve + 2 * bins, bins, index), d1 = slope_at(curve + 2 * bins, bins, index + 1);
  const float e = d0 + d1 - 2.0f * s;
  const float a = h * (s - d0) + y * e, b = h * d0 - y * e, c = -s * y;
  const float root = b * b - 4.0f * a * c;  // below 0 by rounding alone
  return 2.0f * c / (-b - sqrtf(root > 0.0f ? root : 0.0f)) * w + run.begin;
}

}  // namespace

void spline_f32(const SplineArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float in = args.in[t][0];
    const bool inside = in >= -args.bound && in <= args.bound;
    args.out[t][0] = inside ? invert(args, args.curve[t], in) : in;
  }
}

}  // namespace mote::ref
