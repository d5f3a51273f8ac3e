// SPDX-License-Identifier: Apache-2.0
//
// Linear with q8c activations: the exact int32 dot product of all of K, then fma(scale_a * scale_w, dot, 0).
//
// A tile is R rows by P panels, P > 1 only for a single row: its memory streams. Per 4 columns, 8 outputs and row
// sign, maddubs, madd, add: on Zen 3 these are 1.25 cycles, so that 26 of the 64 products a cycle that maddubs
// alone could give are the limit. |w| costs one operation more per R rows; to unpack it (or int16 weights, whose
// madd + add for 2 columns are 1.16 cycles) into scratch once per panel was measured and gains nothing worth its
// bytes. With R = 6 the 12 sums, |w|, a word, the ones and a temporary fit 16 registers. No tails: K is padded to 64
// and N to 16 in the file.
#include "kernels/x86/linear_avx2.inl.h"

namespace mote::avx2 {
namespace {

template <uint32_t R, uint32_t P>
void tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  const HeadQ8c* head[P];
  const QuadQ8c* quads[P];
  const int8_t* a[R];
  __m256i dot[P][R][kHalves];
#pragma GCC unroll 4
  for (uint32_t p = 0; p < P; ++p) {
    head[p] = reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel + p * stride));
    quads[p] = reinterpret_cast<const QuadQ8c*>(head[p] + 1);
#pragma GCC unroll 6
    for (uint32_t r = 0; r < R; ++r) dot[p][r][0] = dot[p][r][1] = _mm256_setzero_si256();
  }
  for (uint32_t r = 0; r < R; ++r) a[r] = reinterpret_cast<const int8_t*>(linear_row(args, row + r));
  const size_t columns = activation_padded(args.inputs);
  for (size_t k = 0; k < columns; k += 4) {
    const int8_t* words[R];
#pragma GCC unroll 6
    for (uint32_t r = 0; r < R; ++r) words[r] = a[r] + k;
#pragma GCC unroll 4
    for (uint32_t p = 0; p < P; ++p) add_quad<R>(quads[p][k / 4].q, words, dot[p]);
  }
  for (uint32_t r = 0; r < R; ++r) {
    const __m256 scale_a = _mm256_set1_ps(reinterpret_cast<const RowScale*>(a[r] + columns)->scale);
#pragma GCC unroll 4
    for (uint32_t p = 0; p < P; ++p) {
      __m256 acc[kHalves];
#pragma GCC unroll 2
      for (uint32_t h = 0; h < kHalves; ++h) {
        const __m256 scale = _mm256_mul_ps(scale_a, _mm256_load_ps(head[p]->scale + 8 * h));
        acc[h] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(dot[p][r][h]), _mm256_setzero_ps());
      }
      linear_finish(args, row + r, panel + p * stride, acc[0], acc[1]);
    }
  }
}

struct Tile {
  template <uint32_t R>
  static void run(const LinearArgs& args, uint32_t panel, uint32_t row) {
    tile<R, 1>(args, panel, 0, row);
  }
};

}  // namespace

void linear_q8c_q8c(const LinearArgs& args, Range panels, void*) {
  uint32_t panel = panels.begin;
  if (args.rows == 1) {
    const uint32_t stride = (panels.end - panels.begin) / kLinearStreams;
    for (; panel < panels.begin + stride; ++panel) tile<1, kLinearStreams>(args, panel, stride, 0);
    panel = panels.begin + stride * kLinearStreams;
  }
  for (; panel < panels.end; ++panel) linear_tile_rows<Tile, 6>(args, panel, 0);
}

}  // namespace mote::avx2
