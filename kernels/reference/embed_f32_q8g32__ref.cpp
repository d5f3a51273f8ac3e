// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q8g32: scale * q. Exact.
#include "kernels/reference/quantized_embed.inl.h"
#include "schema/f16.h"

namespace mote::ref {
namespace {

float value(const SupercellQ8& cell, uint32_t g, uint32_t row, uint32_t k) {
  return f32_from_f16(cell.scale[g][row]) * static_cast<float>(cell.q[g][k / 4][row][k % 4]);
}

}  // namespace

void embed_f32_q8g32(const EmbedArgs& args, Range rows, void*) {
  quantized_embed<SupercellQ8>(args, rows, value);
}

}  // namespace mote::ref
