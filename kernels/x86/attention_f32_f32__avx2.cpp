// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/floats_256.inl.h"

namespace mote::avx2 {

void attention_f32_f32(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Floats256, float>(args, units, scratch);
}

}  // namespace mote::avx2
