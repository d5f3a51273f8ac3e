// SPDX-License-Identifier: Apache-2.0
//
// Against the reference: queries and weights are rounded to bf16, too. The scores of a query q differ by
// d = scale 2^-9 sum |q_e k_e| at most, so out by (2 d + 2^-8 + (n + 8) 2^-24) max |v|.
#include "kernels/simd/attention.inl.h"
#include "kernels/x86/bf16_512.inl.h"

namespace mote::avx512_bf16 {

void attention_f32_bf16(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<Bf16Floats512, Bf16Pair>(args, units, scratch);
}

}  // namespace mote::avx512_bf16
