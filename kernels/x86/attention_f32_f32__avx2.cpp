// SPDX-License-Identifier: Apache-2.0
//
// Attention over a cache of f32.
#include "kernels/x86/attention_avx2.inl.h"

namespace mote::avx2 {

void attention_f32_f32(const AttentionArgs& args, Range units, void* scratch) {
  attention<float>(args, units, scratch);
}

}  // namespace mote::avx2
