// SPDX-License-Identifier: Apache-2.0
//
// The parts that the tiles of linear_dots.inl.h are made of, over the vectors V (dots.h): the formats with
// groups, the dot products of a quad and of a group, the end of a tile, unpacking.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/simd/compiler.h"
#include "kernels/simd/dots.h"
#include "kernels/simd/linear_operands.inl.h"

namespace mote {
namespace {

constexpr size_t kQuadBytes = kPanelRows * 4;  // of a panel: 4 columns of int8, 8 of nibbles

/// body(0), body(1), ... body(N - 1): a loop over arrays of registers. "GCC unroll" does not serve: for a
/// single iteration GCC 12 unrolls the enclosing loop as well. V::kUnrolls is false where unrolling gains
/// nothing.
template <class V, uint32_t N, class Body>
MOTE_INLINE inline void each(const Body& body) {
  if constexpr (V::kUnrolls) {
    if constexpr (N > 1) each<V, N - 1>(body);
    body(N - 1);
  } else {
    for (uint32_t i = 0; i < N; ++i) body(i);
  }
}

/// Calls body(0), body(1), ... as each() does, over the quads of a group. V::kUnrollsQuads is false where
/// small code matters more than speed.
template <class V, uint32_t N, class Body>
MOTE_INLINE inline void each_quad(const Body& body) {
  if constexpr (V::kUnrollsQuads) {
    each<V, N>(body);
  } else {
    MOTE_ROLLED for (uint32_t i = 0; i < N; ++i) body(i);
  }
}

// ---- The formats with groups ----

/// kOffset: what is added to the stored weights; to int8 weights, kBiased, V::kWeightBias is added.
template <class Cell, DType kType, bool kInt8, uint32_t kTooLarge, bool kHasMinimum>
struct GroupFormat {
  using Supercell = Cell;
  static constexpr DType kDType = kType;
  static constexpr bool kBiased = kInt8;
  static constexpr uint32_t kOffset = kTooLarge;
  static constexpr bool kMinimum = kHasMinimum;
  static const auto& weights(const Supercell& cell, size_t g) {
    if constexpr (kInt8) {
      return cell.q[g];
    } else {
      return cell.nibbles[g];
    }
  }
};
using Q4 = GroupFormat<SupercellQ4, DType::q4g32, false, 8, false>;
using Q4m = GroupFormat<SupercellQ4m, DType::q4mg32, false, 0, true>;
using Q8 = GroupFormat<SupercellQ8, DType::q8g32, true, 0, false>;

template <class V, class Format>
inline constexpr uint32_t kOffsetOf = Format::kBiased ? V::kWeightBias : Format::kOffset;

/// int8 weights as V::dot takes them.
template <class V>
MOTE_INLINE inline typename V::Int biased(typename V::Int w) {
  if constexpr (V::kWeightBias == 0) {
    return w;
  } else {
    return V::add_128(w);
  }
}

// ---- Dot products: of P panels with R rows, whose activations are at a[r] + at, added to dot. ----

template <class V, uint32_t R, uint32_t P>
using Dots = typename V::Int[P][R][V::kVectors];

/// Vector v of a quad or of a panel's scales.
template <class V, class T>
MOTE_INLINE inline T* part(T* first, uint32_t v) {
  return first + v * (kPanelRows / V::kVectors);
}

/// 4 columns, unsigned. A word of activations that is multiplied once comes from memory; one that several
/// panels multiply is broadcast to a register.
template <class V, uint32_t R, uint32_t P>
MOTE_INLINE inline void add_quad(const typename V::Int (&w)[P][V::kVectors], const char* const (&a)[R],
                                 size_t at, Dots<V, R, P>& dot) {
  if constexpr (R > 1 && P * V::kVectors == 1) {
    each<V, R>([&](uint32_t r) MOTE_INLINE { dot[0][r][0] = V::dot_word(dot[0][r][0], w[0][0], a[r] + at); });
    return;
  }
  each<V, R>([&](uint32_t r) MOTE_INLINE {
    const typename V::Int word = V::broadcast_word(a[r] + at);
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
        dot[p][r][v] = V::dot(dot[p][r][v], w[p][v], word);
        V::pin(dot[p][r][v]);
      });
    });
  });
}

/// A group of int8.
template <class V, uint32_t R>
MOTE_INLINE inline void add_group(const int8_t (&q)[8][16][4], const char* const (&a)[R], size_t at,
                                  Dots<V, R, 1>& dot) {
  each_quad<V, 8>([&](uint32_t j) MOTE_INLINE {
    typename V::Int w[1][V::kVectors];
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE { w[0][v] = biased<V>(V::load(part<V>(q[j], v))); });
    add_quad<V>(w, a, at + 4 * j, dot);
  });
}

/// A group of nibbles: of 8 columns the first 4 are the low nibbles. For one row of unsigned bytes the high
/// nibbles stay in place, and their sum, 16 times too large, is shifted once.
template <class V, uint32_t R>
MOTE_INLINE inline void add_group(const uint8_t (&nibbles)[4][16][4], const char* const (&a)[R], size_t at,
                                  Dots<V, R, 1>& dot) {
  constexpr bool kShiftSum = R == 1 && V::kWeightBias != 0;
  [[maybe_unused]] Dots<V, R, 1> high_dot;
  if constexpr (kShiftSum)
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE { high_dot[0][0][v] = V::zero(); });
  each_quad<V, 4>([&](uint32_t j) MOTE_INLINE {
    typename V::Int low[1][V::kVectors], high[1][V::kVectors];
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
      const typename V::Int w = V::load(part<V>(nibbles[j], v));
      low[0][v] = V::low_nibbles(w);
      if constexpr (kShiftSum) {
        high[0][v] = V::high_nibbles_in_place(w);
      } else {
        high[0][v] = V::high_nibbles(w);
      }
    });
    add_quad<V>(low, a, at + 8 * j, dot);
    add_quad<V>(high, a, at + 8 * j + 4, kShiftSum ? high_dot : dot);
  });
  if constexpr (kShiftSum) {
    each<V, V::kVectors>(
        [&](uint32_t v) MOTE_INLINE { dot[0][0][v] = V::add_sixteenth(dot[0][0][v], high_dot[0][0][v]); });
  }
}

/// A group of unpacked bytes, of P panels quad by quad.
template <class V, uint32_t R, uint32_t P>
MOTE_INLINE inline void add_unpacked(const uint8_t* bytes, const char* const (&a)[R], size_t at,
                                     Dots<V, R, P>& dot) {
  each_quad<V, 8>([&](uint32_t j) MOTE_INLINE {
    typename V::Int w[P][V::kVectors];
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
        w[p][v] = V::load(bytes + (j * P + p) * kQuadBytes + v * (kQuadBytes / V::kVectors));
      });
    });
    add_quad<V>(w, a, at + 4 * j, dot);
  });
}

/// The dot products' start: start_of(r) for row r.
template <class V, uint32_t R, uint32_t P, class StartOf>
MOTE_INLINE inline void start(const StartOf& start_of, Dots<V, R, P>& dot) {
  each<V, R>([&](uint32_t r) MOTE_INLINE {
    const typename V::Int begin = start_of(r);
    each<V, P>([&](uint32_t p) MOTE_INLINE {
      each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE { dot[p][r][v] = begin; });
    });
  });
}

/// Starts the dot products from -offset * sum of a row's activations, which lies at a[r] + sum_at. By
/// vectors, because GCC spills registers if it is done by words.
template <class V, uint32_t offset, uint32_t R, uint32_t P>
MOTE_INLINE inline void start_by_sums(const char* const (&a)[R], size_t sum_at, Dots<V, R, P>& dot) {
  start<V>(
      [&](uint32_t r) MOTE_INLINE {
        if constexpr (offset == 0) {
          return V::zero();
        } else {
          return V::template minus_times<offset>(V::broadcast_word(a[r] + sum_at));
        }
      },
      dot);
}

// ---- The end of a tile: sum_of(r, v) gives vector v of row r. ----

/// linear_finish without an activation, in registers: in a narrow layer, passing the sums through memory
/// takes a large part of the time.
template <class V, uint32_t R, bool kResidual, class SumOf>
MOTE_INLINE inline void add_bias_and_store(const LinearArgs& args, uint32_t row, uint32_t panel,
                                           const SumOf& sum_of) {
  const uint32_t column = panel * kPanelRows, left = args.outputs - column;
  each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
    const uint32_t at = v * (kPanelRows / V::kVectors), lanes = left > at ? left - at : 0;
    const typename V::Float bias = args.bias != nullptr ? V::load_first(args.bias + column + at, lanes)
                                                        : V::set(-0.0f);  // x + -0 is x, of -0 too
    each<V, R>([&](uint32_t r) MOTE_INLINE {
      typename V::Float y = V::add(sum_of(r, v), bias);
      if constexpr (kResidual) y = V::add(y, V::load_first(args.residual[row + r] + column + at, lanes));
      V::store_first(args.out[row + r] + column + at, lanes, y);
    });
  });
}

template <class V, uint32_t R, class SumOf>
MOTE_INLINE inline void finish_tile(const LinearArgs& args, uint32_t row, uint32_t panel,
                                    const SumOf& sum_of) {
  constexpr bool kInRegisters = V::kVectors <= 2;  // more vectors need too many registers and too much code
  if (kInRegisters && args.activation == Activation::none) {
    if (args.residual.data == nullptr) return add_bias_and_store<V, R, false>(args, row, panel, sum_of);
    return add_bias_and_store<V, R, true>(args, row, panel, sum_of);
  }
  PanelSums<R> sums;
  each<V, R>([&](uint32_t r) MOTE_INLINE {
    each<V, V::kVectors>([&](uint32_t v)
                             MOTE_INLINE { V::store_f32(part<V>(sums.row[r], v), sum_of(r, v)); });
  });
  V::finish(args, row, R, panel, sums.row[0]);
}

// ---- Unpacking a group of a panel of two: from quad to quad of it there are two in `to`. ----

template <class V>
MOTE_INLINE inline void unpack(const int8_t (&q)[8][16][4], uint8_t* to) {
  each_quad<V, 8>([&](uint32_t j)
                      MOTE_INLINE { V::store(to + j * 2 * kQuadBytes, biased<V>(V::load(q[j]))); });
}

template <class V>
MOTE_INLINE inline void unpack(const uint8_t (&nibbles)[4][16][4], uint8_t* to) {
  each_quad<V, 4>([&](uint32_t j) MOTE_INLINE {
    const typename V::Int w = V::load(nibbles[j]);
    V::store(to + 2 * j * 2 * kQuadBytes, V::low_nibbles(w));
    V::store(to + (2 * j + 1) * 2 * kQuadBytes, V::high_nibbles(w));
  });
}

}  // namespace
}  // namespace mote
