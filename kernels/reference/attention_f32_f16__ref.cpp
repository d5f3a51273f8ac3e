// SPDX-License-Identifier: Apache-2.0
//
// Attention over a cache of f16.
#include "kernels/reference/attention.inl.h"

namespace mote::ref {

void attention_f32_f16(const AttentionArgs& args, Range units, void* scratch) {
  attention<uint16_t>(args, units, static_cast<float*>(scratch));
}

uint64_t attention_f32_f16_scratch(const ScratchShape& shape) { return attention_scratch(shape); }

}  // namespace mote::ref
