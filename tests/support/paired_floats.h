// SPDX-License-Identifier: Apache-2.0
//
// The 512-bit float kernels over pairs of 256-bit vectors, so that processors with AVX2 alone test their
// tiles.
#pragma once

#include "kernels/dispatch.h"

namespace mote::testing {

#if defined(__x86_64__)
/// Of floats_512_paired.cpp: linear and attention, each with f32 and with f16.
constexpr uint32_t kPairedFloatKernelCount = 4;
extern const KernelEntry* const kPairedFloatKernels;
#endif

/// Calls check(entry) for those of `op`, where the processor runs AVX2.
template <class Check>
void each_paired(Op op, Check check) {
#if defined(__x86_64__)
  if (!isa_available(Isa::kAvx2)) return;
  for (uint32_t i = 0; i < kPairedFloatKernelCount; ++i) {
    if (kPairedFloatKernels[i].op == op) check(kPairedFloatKernels[i]);
  }
#else
  (void)op, (void)check;
#endif
}

}  // namespace mote::testing
