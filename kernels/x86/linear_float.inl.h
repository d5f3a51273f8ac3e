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
/// Columns multiplied in a turn of the loop: what else is in a turn takes ports from the multiply-adds, on
/// Granite Rapids 6 % of the time with one column.
constexpr uint32_t kTurnColumns = 2;

/// A tile of R rows by the P panels `panel`, `panel` + stride, ... of weights T, float or IEEE half, which
/// the vectors Finish end: a family's are the same for one row and for many, so that the bits are.
template <class V, class T, class Finish, uint32_t R, uint32_t P>
void float_tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row) {
  constexpr DType kDType = std::is_same_v<T, float> ? DType::f32 : DType::f16;
  const size_t row_step = args.in_stride_bytes, panel_step = stride * panel_bytes(kDType, args.inputs);
  // One pointer for three rows or panels: addresses hold the step, and twice it. With a pointer each GCC 12
  // keeps some in vectors. The empty statements below keep it from making one out of another.
  const char* in[(R + 2) / 3];
  const char* weight[(P + 2) / 3];
  typename V::Float acc[R][P * V::kVectors];
  for (uint32_t p = 0; p < P; p += 3) weight[p / 3] = linear_panel(args, kDType, panel + p * stride);
  for (uint32_t r = 0; r < R; r += 3) in[r / 3] = linear_row(args, row + r);
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) acc[r][v] = V::set(0.0f);
  }
  for (uint32_t p = 0; p < P; ++p) ask_for_outputs<R>(args, panel + p * stride, row);
  const uint32_t ask_columns = args.rows < 64 ? kTurnColumns : 32;  // after which it asks for what comes next
  constexpr bool kAsks = R > 1 || P < kLinearStreams;
  const uint32_t asks = kAsks ? (ask_columns * P * R + args.rows - 1) / args.rows : 0;
  const uint32_t times = (args.inputs + ask_columns - 1) / ask_columns;
  WeightsAhead ahead(args, kDType, panel, P, row, R, size_t{times} * asks, kFloatL1Rows);
  // The next columns, `turns` times so many.
  const auto multiply = [&](auto columns, uint32_t turns) MOTE_INLINE {
    constexpr uint32_t kColumns = columns;
    for (; turns != 0; --turns) {
      MOTE_UNROLL for (uint32_t k = 0; k < kColumns; ++k) {
        typename V::Float w[P * V::kVectors];
        MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) {
          const uint32_t p = v / V::kVectors;
          w[v] = V::load(reinterpret_cast<const T*>(weight[p / 3] + p % 3 * panel_step) + k * kPanelRows +
                         v % V::kVectors * V::kLanes);
        }
        MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
          const typename V::Float x = V::set(reinterpret_cast<const float*>(in[r / 3] + r % 3 * row_step)[k]);
          MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) acc[r][v] = V::fma(x, w[v], acc[r][v]);
        }
      }
      MOTE_UNROLL for (uint32_t p = 0; p < P; p += 3) {
        weight[p / 3] += kColumns * kPanelRows * sizeof(T);
        __asm__("" : "+r"(weight[p / 3]));
      }
      MOTE_UNROLL for (uint32_t r = 0; r < R; r += 3) {
        in[r / 3] += kColumns * sizeof(float);
        __asm__("" : "+r"(in[r / 3]));
      }
    }
  };
  for (uint32_t left = args.inputs, now; left != 0; left -= now) {
    now = left < ask_columns ? left : ask_columns;
    for (uint32_t i = 0; i < asks; ++i) ahead.ask();
    multiply(std::integral_constant<uint32_t, kTurnColumns>(), now / kTurnColumns);
    multiply(std::integral_constant<uint32_t, 1>(), now % kTurnColumns);
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
