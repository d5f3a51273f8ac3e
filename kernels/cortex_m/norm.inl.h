// SPDX-License-Identifier: Apache-2.0
//
// Norms as reference/norm_f32__ref.cpp has them, over Sums of a processor: sum of a group's columns, sum of
// squares of its columns less a centre, and the scaled group. A sum of n columns is made of four, so it has
// at most n / 4 + 2 roundings; a column is multiplied by 1 / divisor, which rounds once more than the
// division.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote::cortex_m {

static inline float divisor(const NormArgs& args, uint32_t n, float squares) {
  if (args.kind == NormKind::l2) {
    const float length = __builtin_sqrtf(squares);
    return length > args.eps ? length : args.eps;
  }
  const float variance = squares / static_cast<float>(n);
  return args.eps_outside_root ? __builtin_sqrtf(variance) + args.eps : __builtin_sqrtf(variance + args.eps);
}

template <class Columns>
static inline void norm(const NormArgs& args, Range rows) {
  const uint32_t n = args.width / args.groups;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t group = 0; group < args.groups; ++group) {
      const float* v = args.in[t] + group * n;
      const float centre = args.kind == NormKind::layer ? Columns::sum(v, n) / static_cast<float>(n) : 0.0f;
      const float factor = 1.0f / divisor(args, n, Columns::sum_squares(v, n, centre));
      Columns::scale(v, n, centre, factor, args.weight, args.bias, args.out[t] + group * n);
    }
  }
}

}  // namespace mote::cortex_m
