// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table f32 in rows or panels. Exact.
#include "kernels/reference/embed.inl.h"

namespace mote::ref {

void embed_f32_f32(const EmbedArgs& args, Range rows, void*) { embed<DType::f32, float>(args, rows); }

}  // namespace mote::ref
