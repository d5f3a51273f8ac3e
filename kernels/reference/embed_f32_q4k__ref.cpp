// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q4k: scale * q + minimum. The products are exact, so there is one rounding.
#include "kernels/reference/quantized_embed.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {
namespace {

float value(const SupercellQ4k& cell, uint32_t g, uint32_t row, uint32_t k) {
  const ScaleAndMinimum w = scale_and_minimum(cell.scales, g, row);
  return w.scale * static_cast<float>(wide_q(cell.q[g], row, k)) + w.minimum;
}

}  // namespace

void embed_f32_q4k(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ4k, kWideGroups>(args, rows, value);
}

}  // namespace mote::ref
