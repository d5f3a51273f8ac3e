// SPDX-License-Identifier: Apache-2.0
//
// The formats whose scales linear_decoded.inl.h decodes, over the vectors V (dots.h).
//
//   Supercell, kDType, kGroups     groups of a supercell
//   kMinimum                       whether a group has minima
//   kParts                         2: of a group's columns the first 16 and the last have steps of their own
//   kOffset                        what is added to the weights of quad(), the same for all V
//   Scales                         a group's scales
//   decode<V>(cell, to, stride)    to[g * stride] = those of group g, all kGroups of them
//   quad<V, j>(cell, g, v)         vector v of the columns 4 j to 4 j + 3 of group g: bytes below 64 as
//   V::dot
//                                  takes them
#pragma once

#include <type_traits>

#include "kernels/simd/linear_dots_parts.inl.h"

namespace mote {
namespace {

/// body(constant 0), ... body(constant N - 1).
template <uint32_t N, class Body>
MOTE_INLINE inline void each_index(const Body& body) {
  if constexpr (N > 1) each_index<N - 1>(body);
  body(std::integral_constant<uint32_t, N - 1>());
}

struct alignas(64) ScalesAndMinima {
  float scale[kPanelRows], minimum[kPanelRows];
};
struct alignas(64) ScalesAndSteps {
  float scale[kPanelRows];
  int32_t step[2][kPanelRows];  // of the first 16 columns, of the others
};

/// The nibbles of quad j.
template <class V, uint32_t j>
MOTE_INLINE inline typename V::Int nibbles_of(const uint8_t (&nibbles)[4][16][4], uint32_t v) {
  const typename V::Int w = V::load(part<V>(nibbles[j / 2], v));
  return j % 2 == 0 ? V::low_nibbles(w) : V::high_nibbles(w);
}

template <class V, uint32_t j>
MOTE_INLINE inline typename V::Int quad_of(const uint8_t (&nibbles)[4][16][4], uint32_t v) {
  return nibbles_of<V, j>(nibbles, v);
}
template <class V, uint32_t j>
MOTE_INLINE inline typename V::Int quad_of(const FiveBits& group, uint32_t v) {
  const typename V::Int fifth = V::load(part<V>(group.fifth, v));
  return V::either(nibbles_of<V, j>(group.nibbles, v),
                   V::template shifted<4 - static_cast<int>(j), 0x10101010>(fifth));
}
template <class V, uint32_t j>
MOTE_INLINE inline typename V::Int quad_of(const SixBits& group, uint32_t v) {
  const typename V::Int high = V::load(part<V>(group.high[j / 4], v));
  return V::either(nibbles_of<V, j>(group.nibbles, v),
                   V::template shifted<4 - 2 * static_cast<int>(j % 4), 0x30303030>(high));
}

/// q4k and q5k.
template <class Cell, DType kType>
struct WideFormat {
  using Supercell = Cell;
  using Scales = ScalesAndMinima;
  static constexpr DType kDType = kType;
  static constexpr uint32_t kGroups = kWideGroups, kParts = 1, kOffset = 0;
  static constexpr bool kMinimum = true;

  template <class V>
  MOTE_INLINE static void decode(const Supercell& cell, Scales* to, size_t stride) {
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
      using Int = typename V::Int;
      const WideScales& from = cell.scales;
      const typename V::Float scale = V::load_f16(part<V>(from.scale, v)),
                              minimum = V::load_f16(part<V>(from.minimum, v));
      Int words[4];
      each_index<3>([&](auto i) MOTE_INLINE { words[i] = V::load(part<V>(from.steps[i], v)); });
      words[3] = V::either(
          V::either(V::template shifted<-24, 0xFF>(words[0]), V::template shifted<-16, 0xFF00>(words[1])),
          V::template shifted<-8, 0xFF0000>(words[2]));
      each_index<kWideGroups>([&](auto g) MOTE_INLINE {
        constexpr int shift = -12 * static_cast<int>(g % 2);
        Scales& group = to[g * stride];
        V::store_f32(part<V>(group.scale, v),
                     V::mul(scale, V::convert(V::template shifted<shift, 63>(words[g / 2]))));
        V::store_f32(part<V>(group.minimum, v),
                     V::mul(minimum, V::convert(V::template shifted<shift - 6, 63>(words[g / 2]))));
      });
    });
  }
  template <class V, uint32_t j>
  MOTE_INLINE static typename V::Int quad(const Supercell& cell, size_t g, uint32_t v) {
    return quad_of<V, j>(cell.q[g], v);
  }
};
using Q4k = WideFormat<SupercellQ4k, DType::q4k>;
using Q5k = WideFormat<SupercellQ5k, DType::q5k>;

/// Where weights are unsigned bytes they have an offset of 32, which prepared starts take away.
struct Q6k {
  using Supercell = SupercellQ6k;
  using Scales = ScalesAndSteps;
  static constexpr DType kDType = DType::q6k;
  static constexpr uint32_t kGroups = kWideGroups, kParts = 2, kOffset = 32;
  static constexpr bool kMinimum = false;

  template <class V>
  MOTE_INLINE static void decode(const Supercell& cell, Scales* to, size_t stride) {
    each<V, V::kVectors>([&](uint32_t v) MOTE_INLINE {
      const typename V::Float scale = V::load_f16(part<V>(cell.scale, v));
      each_index<kWideGroups>([&](auto g) MOTE_INLINE {
        const typename V::Int steps = V::load(part<V>(cell.steps[g / 2], v));
        Scales& group = to[g * stride];
        V::store_f32(part<V>(group.scale, v), scale);
        V::store(part<V>(group.step[0], v), V::template signed_byte<2 * (g % 2)>(steps));
        V::store(part<V>(group.step[1], v), V::template signed_byte<2 * (g % 2) + 1>(steps));
      });
    });
  }
  template <class V, uint32_t j>
  MOTE_INLINE static typename V::Int quad(const Supercell& cell, size_t g, uint32_t v) {
    const typename V::Int q = quad_of<V, j>(cell.q[g], v);
    if constexpr (V::kWeightBias == 0) {
      return V::minus_32(q);
    } else {
      return q;
    }
  }
};

}  // namespace
}  // namespace mote
