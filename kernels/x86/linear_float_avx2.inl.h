// SPDX-License-Identifier: Apache-2.0
//
// Linear with f32 activations: out[t][n] = fma over k of x[t][k] * w[n][k], in the order of k.
//
// A tile is R rows by P panels; each k loads P x 16 weights and broadcasts R inputs. The order of k is fixed,
// so the only independent chains are outputs: 8 or more of them hide the latency of an fma (4 cycles, 2 a
// cycle). R x P x 2 accumulators, 2 P weights and a broadcast fit 16 registers: 1 x 4, 2 x 2, 3 x 2,
// then 4..6 x 1. A panel lies in L2 (64 K bytes at most where K = 1024) while all rows pass over it. No tail
// in k or in the columns: panels are padded to 16.
#pragma once

#include "kernels/x86/linear_avx2.inl.h"

namespace mote::avx2 {

/// A tile of R rows by the P panels `panel`, `panel` + stride, ...
template <class Weight, uint32_t R, uint32_t P>
static inline void float_tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  const float* in[R];
  const char* weight[P];
  __m256 acc[R][P * kHalves];
  for (uint32_t p = 0; p < P; ++p) weight[p] = linear_panel(args, Weight::kDType, panel + p * stride);
#pragma GCC unroll 6
  for (uint32_t r = 0; r < R; ++r) {
    in[r] = reinterpret_cast<const float*>(linear_row(args, row + r));
#pragma GCC unroll 8
    for (uint32_t v = 0; v < P * kHalves; ++v) acc[r][v] = _mm256_setzero_ps();
  }
  for (size_t k = 0; k < args.inputs; ++k) {
    __m256 w[P * kHalves];
#pragma GCC unroll 4
    for (uint32_t p = 0; p < P; ++p) Weight::load(weight[p], k, w + p * kHalves);
#pragma GCC unroll 6
    for (uint32_t r = 0; r < R; ++r) {
      const __m256 x = _mm256_broadcast_ss(in[r] + k);
#pragma GCC unroll 8
      for (uint32_t v = 0; v < P * kHalves; ++v) acc[r][v] = _mm256_fmadd_ps(x, w[v], acc[r][v]);
    }
  }
  PanelSums<R> sums[P];
#pragma GCC unroll 6
  for (uint32_t r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (uint32_t v = 0; v < P * kHalves; ++v)
      _mm256_store_ps(sums[v / kHalves].row[r] + v % kHalves * kLanes, acc[r][v]);
  }
  for (uint32_t p = 0; p < P; ++p) linear_finish(args, row, R, panel + p * stride, sums[p].row[0]);
}

template <class Weight, uint32_t P>
struct FloatTile {
  template <uint32_t R>
  static void run(const LinearArgs& args, uint32_t panel, uint32_t row) {
    float_tile<Weight, R, P>(args, panel, 1, row);
  }
};

/// The weights of a block of panels are read by all rows before the next. Few rows take panels together: see
/// above.
template <class Weight>
static inline void float_linear(const LinearArgs& args, Range panels) {
  uint32_t panel = panels.begin;
  if (args.rows == 1) {
    const uint32_t stride = (panels.end - panels.begin) / kLinearStreams;
    for (; panel < panels.begin + stride; ++panel)
      float_tile<Weight, 1, kLinearStreams>(args, panel, stride, 0);
    panel = panels.begin + stride * kLinearStreams;
  } else if (args.rows <= 3) {
    for (; panel + 2 <= panels.end; panel += 2) linear_tile_rows<FloatTile<Weight, 2>, 3>(args, panel, 0);
  }
  for (; panel < panels.end; ++panel) linear_tile_rows<FloatTile<Weight, 1>, 6>(args, panel, 0);
}

}  // namespace mote::avx2
