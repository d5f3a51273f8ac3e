// SPDX-License-Identifier: Apache-2.0
//
// Attention over a cache of f32.
#include "kernels/reference/attention.inl.h"

namespace mote::ref {

void attention_f32_f32(const AttentionArgs& args, Range units, void* scratch) {
  attention<float>(args, units, static_cast<float*>(scratch));
}

uint64_t attention_f32_f32_scratch(const ScratchShape& shape) { return attention_scratch(shape); }

}  // namespace mote::ref
