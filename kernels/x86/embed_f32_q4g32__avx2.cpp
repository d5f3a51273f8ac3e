// SPDX-License-Identifier: Apache-2.0
//
// out[t] = table[ids[t]], table q4g32: scale * (nibble - 8). Exact.
#include "kernels/x86/embed_avx2.inl.h"

namespace mote::avx2 {
namespace {

struct Format {
  using Supercell = SupercellQ4;
  static void decode(const Supercell& cell, uint32_t g, uint32_t row, __m256 columns[kGroupVectors]) {
    const __m256i q = _mm256_sub_epi8(gather_nibbles(cell.nibbles[g][0][row]), _mm256_set1_epi8(8));
    const __m256 scale = broadcast_half(cell.scale[g][row]);
    MOTE_UNROLL for (uint32_t v = 0; v < kGroupVectors; ++v) columns[v] =
        _mm256_mul_ps(scale, floats_of(q, v));
  }
};

}  // namespace

void embed_f32_q4g32(const EmbedArgs& args, Range rows, void*) { embed_packed<Format>(args, rows); }

}  // namespace mote::avx2
