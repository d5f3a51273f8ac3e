// SPDX-License-Identifier: Apache-2.0
//
// x[t] += table[indices[t]], the table row-major f16; 8 columns at a time: the same bits as the reference.
// Bound by memory: no unrolling.
#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

void positions_f32_f16(const PositionsArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint16_t* row =
        static_cast<const uint16_t*>(args.table) + static_cast<size_t>(args.indices[t]) * args.width;
    float* x = args.x[t];
    uint32_t i = 0;
    for (; i + kLanes <= args.width; i += kLanes) {
      _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_loadu_ps(x + i), load8(row + i)));
    }
    if (i < args.width) {
      const uint32_t left = args.width - i;
      store_first(x + i, left, _mm256_add_ps(load_first(x + i, left), load_first(row + i, left)));
    }
  }
}

}  // namespace mote::avx2
