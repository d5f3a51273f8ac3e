// SPDX-License-Identifier: Apache-2.0
//
// x[t] += table[indices[t]], the table row-major of T, floats or halves: bitwise equal to the reference. The
// loop is bound by memory and not unrolled.
#pragma once

#include "kernels/simd/floats.h"

namespace mote {
namespace {

template <class V, class T>
void positions(const PositionsArgs& args, Range rows, void*) {
  static_assert(CheckRows<V>::kPasses);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const T* row = static_cast<const T*>(args.table) + static_cast<size_t>(args.indices[t]) * args.width;
    float* x = args.x[t];
    each_vector<V::kLanes>(args.width, [&](uint32_t i, uint32_t left) MOTE_INLINE {
      const typename V::Float own = V::load_first(row + i, left);
      V::store_first(x + i, left, args.replaces ? own : V::add(V::load_first(x + i, left), own));
    });
  }
}

}  // namespace
}  // namespace mote
