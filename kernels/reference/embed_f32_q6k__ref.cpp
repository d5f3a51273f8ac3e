// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q6k: (scale * step) * q. Exact, and the order gives ggml's sign of 0.
#include "kernels/reference/quantized_embed.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {
namespace {

float value(const SupercellQ6k& cell, uint32_t g, uint32_t row, uint32_t k) {
  return f32_from_f16(cell.scale[row]) * static_cast<float>(step(cell, g, row, k / 16)) *
         static_cast<float>(wide_q(cell.q[g], row, k));
}

}  // namespace

void embed_f32_q6k(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ6k, kWideGroups>(args, rows, value);
}

}  // namespace mote::ref
