// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q4mg32: scale * nibble + minimum. The product is exact, so there is one
// rounding.
#include "kernels/reference/nibble.inl.h"
#include "kernels/reference/quantized_embed.inl.h"
#include "schema/f16.h"

namespace mote::ref {
namespace {

float value(const SupercellQ4m& cell, uint32_t g, uint32_t row, uint32_t k) {
  const float scaled = f32_from_f16(cell.scale[g][row]) * static_cast<float>(nibble(cell.nibbles[g], row, k));
  return scaled + f32_from_f16(cell.minimum[g][row]);
}

}  // namespace

void embed_f32_q4mg32(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ4m>(args, rows, value);
}

}  // namespace mote::ref
