// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q5k.
#include "kernels/reference/quantized_embed.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {

void embed_f32_q5k(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ5k, kWideGroups>(args, rows, value_with_minimum<SupercellQ5k>);
}

}  // namespace mote::ref
