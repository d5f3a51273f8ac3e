// SPDX-License-Identifier: Apache-2.0
//
// Attention over a cache of f16, converted exactly when loaded.
#include "kernels/x86/attention_avx2.inl.h"

namespace mote::avx2 {

void attention_f32_f16(const AttentionArgs& args, Range units, void* scratch) {
  attention<uint16_t>(args, units, scratch);
}

}  // namespace mote::avx2
