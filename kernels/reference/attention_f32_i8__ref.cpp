// SPDX-License-Identifier: Apache-2.0
//
// Attention over a cache of i8. Queries and weights stay floats; faster kernels state what they round.
#include "kernels/reference/attention.inl.h"

namespace mote::ref {

void attention_f32_i8(const AttentionArgs& args, Range units, void* scratch) {
  attention<KvQuad>(args, units, static_cast<float*>(scratch));
}

uint64_t attention_f32_i8_scratch(const ScratchShape& shape) { return attention_scratch(shape); }

}  // namespace mote::ref
