// SPDX-License-Identifier: Apache-2.0
//
// A group norm over the rows of a sequence, a vector V of columns at a time. Against the reference: the
// activation's bound (elementary.inl.h).
#pragma once

#include "kernels/reference/time_norm.inl.h"
#include "kernels/simd/elementary.inl.h"

namespace mote {
namespace {

/// Columns [first, first + count) of a row, normed. A loop for each step, so that compilers take vectors.
inline void normed_columns(const float* in, uint32_t first, uint32_t count, const double* mean,
                           const double* scale, uint32_t step, float* out) {
  if (step == 0) {
    for (uint32_t i = 0; i < count; ++i) out[i] = normed(in[first + i], *mean, *scale);
  } else {
    for (uint32_t i = 0; i < count; ++i) out[i] = normed(in[first + i], mean[i], scale[i]);
  }
}

template <class V>
void time_norm(const TimeNormArgs& args, Range units, void*) {
  static_assert(CheckFloats<V>::kPasses);
  with_activation(args.activation, [&](auto kind) {
    time_norm_units(args, units,
                    [&](uint32_t t, uint32_t begin, uint32_t end, const double* mean, const double* scale,
                        uint32_t step) {
                      float values[kTimeNormColumns];
                      for (uint32_t i = begin; i < end; i += kTimeNormColumns) {
                        const uint32_t left = end - i,
                                       columns = left < kTimeNormColumns ? left : kTimeNormColumns;
                        normed_columns(args.in[t], i, columns, mean, scale, step, values);
                        for (uint32_t j = 0; j < columns; j += V::kLanes) {
                          const auto y = V::add(V::mul(V::load_first(values + j, columns - j),
                                                       V::load_first(args.weight + i + j, columns - j)),
                                                V::load_first(args.bias + i + j, columns - j));
                          V::store_first(args.out[t] + i + j, columns - j, activate<V>(kind, y));
                        }
                      }
                    });
  });
}

}  // namespace
}  // namespace mote
