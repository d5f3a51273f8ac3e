// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/floats_512.inl.h"

namespace mote::avx512_vnni {

void attention_f32_f16(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Floats512, uint16_t>(args, units, scratch);
}

}  // namespace mote::avx512_vnni
