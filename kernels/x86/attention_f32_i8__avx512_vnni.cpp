// SPDX-License-Identifier: Apache-2.0
//
// Against the reference: queries are rounded to bytes, weights times the scales of their values too. The
// scores of a query q differ by d = scale max |q| / 254 sum |k_e| at most, so out by (2 d + n / (510 sum of
// weights) + 2^-12 + (n + 8) 2^-24) max |v|.
#include "kernels/x86/attention.inl.h"
#include "kernels/x86/int8_512.inl.h"

namespace mote::avx512_vnni {

void attention_f32_i8(const AttentionArgs& args, Range units, void* scratch) {
  avx2::attention<Int8Floats512, KvQuad>(args, units, scratch);
}

}  // namespace mote::avx512_vnni
