// SPDX-License-Identifier: Apache-2.0
//
// Linear with q8c activations: the exact int32 dot product of all of K, then fma(scale_a * scale_w, dot, 0).
//
// A tile is R rows by P panels, P > 1 only for a single row: its memory streams. Per 4 columns, 8 outputs and
// row it takes sign, maddubs, madd, add, which on Zen 3 are 1.25 cycles: 26 products a cycle are the limit,
// not the 64 of maddubs alone. With R = 4 the 8 sums, two w and |w|, a word, the ones and a temporary fit 16
// registers, and |w| costs an operation in 17. Measured: 20 products a cycle at K = 384, 21.5 at 768, 22.6 at
// 3072, the rest being what ends a tile. Preparing a panel in scratch gave no more than 5 % on top: int16
// weights and activations with madd and add alone, or int16 sums of 8 maddubs where the norms of both sides
// prove that they fit. No tails: K is padded to 64 and N to 16 in the file.
#include "kernels/x86/linear_avx2.inl.h"

namespace mote::avx2 {
namespace {

/// dot[p][r]: of row r of `a` with panel p. A function of its own with its sums in registers until the end:
/// inlined into the tile, GCC 12 keeps them in memory.
template <uint32_t R, uint32_t P>
__attribute__((noinline)) void dots(const QuadQ8c* const panels[P], const int8_t* const rows[R],
                                    size_t columns, __m256i dot[P][R][kHalves]) {
  const QuadQ8c* quads[P];
  const int8_t* a[R];
  __m256i sum[P][R][kHalves];
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) a[r] = rows[r];
  MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
    quads[p] = panels[p];
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) sum[p][r][0] = sum[p][r][1] = _mm256_setzero_si256();
  }
  for (const int8_t* end = a[0] + columns; a[0] != end;) {
    MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) add_quad<R>((quads[p]++)->q, a, sum[p]);
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) a[r] += 4;
  }
  MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
      dot[p][r][0] = sum[p][r][0];
      dot[p][r][1] = sum[p][r][1];
    }
  }
}

template <uint32_t R, uint32_t P>
void tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  const HeadQ8c* head[P];
  const QuadQ8c* quads[P];
  const int8_t* a[R];
  __m256i dot[P][R][kHalves];
  for (uint32_t p = 0; p < P; ++p) {
    head[p] = reinterpret_cast<const HeadQ8c*>(linear_panel(args, DType::q8c, panel + p * stride));
    quads[p] = reinterpret_cast<const QuadQ8c*>(head[p] + 1);
  }
  for (uint32_t r = 0; r < R; ++r) a[r] = reinterpret_cast<const int8_t*>(linear_row(args, row + r));
  const size_t columns = activation_padded(args.inputs);
  dots<R, P>(quads, a, columns, dot);
  for (uint32_t p = 0; p < P; ++p) {
    PanelSums<R> sums;
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      const __m256 scale_w = _mm256_load_ps(head[p]->scale + 8 * h);
      MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
        const __m256 scale_a = _mm256_set1_ps(reinterpret_cast<const RowScale*>(a[r] + columns)->scale);
        const __m256 sum = _mm256_fmadd_ps(_mm256_mul_ps(scale_a, scale_w), _mm256_cvtepi32_ps(dot[p][r][h]),
                                           _mm256_setzero_ps());
        _mm256_store_ps(sums.row[r] + 8 * h, sum);
      }
    }
    linear_finish(args, row, R, panel + p * stride, sums.row[0]);
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
  for (; panel < panels.end; ++panel) linear_tile_rows<Tile, 4>(args, panel, 0);
}

}  // namespace mote::avx2
