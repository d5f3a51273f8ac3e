// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/int8_512.inl.h"

namespace mote::avx512_vnni {

void attention_f32_i8(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Int8Floats512, KvQuad>(args, units, scratch);
}

}  // namespace mote::avx512_vnni
