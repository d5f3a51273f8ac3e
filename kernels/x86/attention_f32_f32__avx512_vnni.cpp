// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/floats_512.inl.h"

namespace mote::avx512_vnni {

void attention_f32_f32(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Floats512, float>(args, units, scratch);
}

}  // namespace mote::avx512_vnni
