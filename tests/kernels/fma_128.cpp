// SPDX-License-Identifier: Apache-2.0
//
// The fused multiply-add that SSE4.1 lacks, for tests. No C++ library: see vnni_kernels.h.
#include "kernels/x86/dots_128.inl.h"

namespace mote::testing {

/// out = a b + c of 4 lanes.
void fma_128(const float* a, const float* b, const float* c, float* out) {
  _mm_storeu_ps(out, Dots128::fma(_mm_loadu_ps(a), _mm_loadu_ps(b), _mm_loadu_ps(c)));
}

}  // namespace mote::testing
