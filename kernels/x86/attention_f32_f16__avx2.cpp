// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/floats_256.inl.h"

namespace mote::avx2 {

void attention_f32_f16(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Floats256, uint16_t>(args, units, scratch);
}

}  // namespace mote::avx2
