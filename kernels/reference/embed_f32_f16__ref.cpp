// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table f16 in rows or panels. Exact.
#include "kernels/reference/embed.inl.h"

namespace mote::ref {

void embed_f32_f16(const EmbedArgs& args, Range rows, void*) { embed<DType::f16, uint16_t>(args, rows); }

}  // namespace mote::ref
