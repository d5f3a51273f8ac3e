// SPDX-License-Identifier: Apache-2.0
//
// layer: weight * (v - mean) / sqrt(variance + eps) + bias; rms: weight * v / sqrt(mean(v^2) + eps) + bias;
// l2: weight * v / max(sqrt(sum of v^2), eps) + bias; affine: weight * v + bias, for each group v of a row.
// The variance takes a second pass over v - mean, which avoids cancellation.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

float mean(const float* v, uint32_t n) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < n; ++i) sum += v[i];
  return sum / static_cast<float>(n);
}

float sum_squares(const float* v, uint32_t n, float centre) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < n; ++i) sum += (v[i] - centre) * (v[i] - centre);
  return sum;
}

float divisor(const NormArgs& args, uint32_t n, float squares) {
  if (args.kind == NormKind::affine) return 1.0f;
  if (args.kind == NormKind::l2) return fmaxf(sqrtf(squares), args.eps);
  const float variance = squares / static_cast<float>(n);
  return args.eps_outside_root ? sqrtf(variance) + args.eps : sqrtf(variance + args.eps);
}

}  // namespace

void norm_f32(const NormArgs& args, Range rows, void*) {
  const uint32_t n = args.width / args.groups;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t group = 0; group < args.groups; ++group) {
      const float* v = args.in[t] + group * n;
      float* out = args.out[t] + group * n;
      const float centre = args.kind == NormKind::layer ? mean(v, n) : 0.0f;
      const float scale = divisor(args, n, sum_squares(v, n, centre));
      for (uint32_t i = 0; i < n; ++i) {
        out[i] = (v[i] - centre) / scale;
        if (args.weight != nullptr) out[i] *= args.weight[i];
        if (args.bias != nullptr) out[i] += args.bias[i];
      }
    }
  }
}

}  // namespace mote::ref
