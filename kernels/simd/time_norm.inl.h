// SPDX-License-Identifier: Apache-2.0
//
// A group norm over the rows of a sequence, a vector V of columns at a time. Against the reference: the
// activation's bound (elementary.inl.h).
#pragma once

#include "kernels/reference/time_norm.inl.h"
#include "kernels/simd/elementary.inl.h"

namespace mote {
namespace {

template <class V>
void time_norm(const TimeNormArgs& args, Range units, void*) {
  static_assert(CheckFloats<V>::kPasses);
  with_activation(args.activation, [&](auto kind) {
    time_norm_units(args, units,
                    [&](uint32_t t, uint32_t begin, uint32_t end, const double* mean, const double* scale,
                        uint32_t step) {
                      for (uint32_t i = begin; i < end; i += V::kLanes) {
                        const uint32_t left = end - i, lanes = left < V::kLanes ? left : V::kLanes;
                        float values[V::kLanes] = {};
                        for (uint32_t j = 0; j < lanes; ++j) {
                          const uint32_t at = (i + j - begin) * step;
                          values[j] = normed(args, t, i + j, mean[at], scale[at]);
                        }
                        const auto y = V::add(V::mul(V::load(values), V::load_first(args.weight + i, left)),
                                              V::load_first(args.bias + i, left));
                        V::store_first(args.out[t] + i, left, activate<V>(kind, y));
                      }
                    });
  });
}

}  // namespace
}  // namespace mote
