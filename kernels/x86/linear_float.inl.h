// SPDX-License-Identifier: Apache-2.0
//
// Linear with f32 activations: out[t][n] = fma over k of x[t][k] * w[n][k], in the order of k.
//
// A tile is R rows by P panels; each k loads P x 16 weights and broadcasts R inputs. The order of k is fixed,
// so the only independent chains are outputs, and few rows take several panels: V, the vectors
// (floats_256.inl.h, floats_512.inl.h), says how many, by its registers. A single row is bound by memory. A
// panel lies in L2 (64 K bytes at most where K = 1024) while all rows pass over it. No tail in k or in the
// columns: panels are padded to 16.
#pragma once

#include <type_traits>

#include "kernels/x86/linear_finish.inl.h"

namespace mote {
namespace {

/// WeightsAhead asks for floats to L1 from here on.
constexpr uint32_t kFloatL1Rows = 25;

/// A tile of R rows by the P panels `panel`, `panel` + stride, ... of weights T, float or IEEE half, which
/// the vectors Finish end: a family's are the same for one row and for many, so that the bits are.
template <class V, class T, class Finish, uint32_t R, uint32_t P>
void float_tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  constexpr DType kDType = std::is_same_v<T, float> ? DType::f32 : DType::f16;
  const float* in[R];
  const T* weight[P];
  typename V::Float acc[R][P * V::kVectors];
  for (uint32_t p = 0; p < P; ++p)
    weight[p] = reinterpret_cast<const T*>(linear_panel(args, kDType, panel + p * stride));
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    in[r] = reinterpret_cast<const float*>(linear_row(args, row + r));
    MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) acc[r][v] = V::set(0.0f);
  }
  for (uint32_t p = 0; p < P; ++p) ask_for_outputs<R>(args, panel + p * stride, row);
  WeightsAhead ahead(args, kDType, panel, P, row, R, args.inputs * P, kFloatL1Rows);
  MOTE_UNROLL_4 for (size_t k = 0; k < args.inputs; ++k) {
    typename V::Float w[P * V::kVectors];
    if constexpr (R > 1 || P < kLinearStreams) MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) ahead.ask();
    MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) {
      w[v] = V::load(weight[v / V::kVectors] + k * kPanelRows + v % V::kVectors * V::kLanes);
    }
    MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
      const typename V::Float x = V::set(in[r][k]);
      MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) acc[r][v] = V::fma(x, w[v], acc[r][v]);
    }
  }
  PanelSums<R> sums[P];
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) {
      V::store(sums[v / V::kVectors].row[r] + v % V::kVectors * V::kLanes, acc[r][v]);
    }
  }
  for (uint32_t p = 0; p < P; ++p) linear_finish<Finish>(args, row, R, panel + p * stride, sums[p].row[0]);
}

/// The weights of P panels are read by all rows, R of them at a time, before the next.
template <class V, class T, class Finish, uint32_t R, uint32_t P>
uint32_t float_panels(const LinearArgs& args, Range panels) {
  for (; panels.begin + P <= panels.end; panels.begin += P) {
    each_tile<R>(args.rows, [&](auto rows, uint32_t row) {
      float_tile<V, T, Finish, rows, P>(args, panels.begin, 1, row);
    });
  }
  return panels.begin;
}

template <class V, class T, class Finish = V>
void float_linear(const LinearArgs& args, Range panels) {
  if (args.rows == 1) {
    panels = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
      float_tile<V, T, Finish, 1, kLinearStreams>(args, panel, stride, 0);
    });
  } else if (args.rows <= V::kFewRows) {
    panels.begin = float_panels<V, T, Finish, V::kFewRows, V::kFewPanels>(args, panels);
  } else if constexpr (V::kPanels > 1) {
    panels.begin = float_panels<V, T, Finish, V::kRows, V::kPanels>(args, panels);
    if constexpr (V::kPanels > 2) panels.begin = float_panels<V, T, Finish, V::kRows, 2>(args, panels);
  }
  float_panels<V, T, Finish, V::kRows, 1>(args, panels);
}

}  // namespace
}  // namespace mote
