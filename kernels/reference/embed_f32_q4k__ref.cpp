// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q4k.
#include "kernels/reference/quantized_embed.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {

void embed_f32_q4k(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ4k, kWideGroups>(args, rows, value_with_minimum<SupercellQ4k>);
}

}  // namespace mote::ref
