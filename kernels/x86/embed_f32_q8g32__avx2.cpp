// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q8g32: scale * q. Exact.
#include "kernels/x86/embed_avx2.inl.h"

namespace mote::avx2 {
namespace {

struct Format {
  using Supercell = SupercellQ8;
  static void decode(const Supercell& cell, uint32_t g, uint32_t row, __m256 columns[kGroupVectors]) {
    const __m256i q = gather8_words(cell.q[g][0][row]);
    const __m256 scale = broadcast_half(cell.scale[g][row]);
    MOTE_UNROLL for (uint32_t v = 0; v < kGroupVectors; ++v) columns[v] =
        _mm256_mul_ps(scale, floats_of(q, v));
  }
};

}  // namespace

void embed_f32_q8g32(const EmbedArgs& args, Range rows, void*) { embed_packed<Format>(args, rows); }

}  // namespace mote::avx2
