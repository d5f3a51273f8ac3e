// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q4g32: scale * (nibble - 8). Exact.
#include "kernels/reference/nibble.inl.h"
#include "kernels/reference/quantized_embed.inl.h"
#include "schema/f16.h"

namespace mote::ref {
namespace {

float value(const SupercellQ4& cell, uint32_t g, uint32_t row, uint32_t k) {
  return f32_from_f16(cell.scale[g][row]) * static_cast<float>(nibble(cell.nibbles[g], row, k) - 8);
}

}  // namespace

void embed_f32_q4g32(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ4>(args, rows, value);
}

}  // namespace mote::ref
