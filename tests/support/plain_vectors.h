// SPDX-License-Identifier: Apache-2.0
//
// Vectors of simd/floats.h and simd/ints.h in plain C++, so that every processor tests the templates.
#pragma once

#include <math.h>
#include <string.h>

#include "kernels/simd/ints.h"
#include "schema/f16.h"

namespace mote::testing {
namespace {

/// Vectors of `lanes` floats, whose products are added with one rounding or with two.
template <uint32_t lanes, bool fused>
struct PlainFloats : FloatScores<PlainFloats<lanes, fused>> {
  struct Float {
    float lane[lanes];
  };
  struct Int {
    int32_t lane[lanes];
  };
  struct Bytes {
    int8_t byte[kGroupColumns];
  };
  static constexpr uint32_t kLanes = lanes, kVectors = kPanelRows / lanes;
  static constexpr bool kFused = fused, kLooksUp = false;
  // Of attention.inl.h, over a cache of floats or halves.
  static constexpr uint32_t kQueries = lanes / 2;
  static constexpr uint32_t blocks(uint32_t queries) { return queries == 1 ? 2 : 1; }
  using Dot = Float;
  using Total = Float;

  static constexpr uint32_t kRows = 3, kPanels = 2, kFewRows = 2, kFewPanels = 3;  // of linear_float.inl.h

  // ---- Memory ----
  static Float set(float value) {
    return floats([&](uint32_t) { return value; });
  }
  template <class T>
  static Float load(const T* from) {
    return load_first(from, lanes);
  }
  template <class T>
  static Float load_first(const T* from, uint32_t count) {
    return floats([&](uint32_t i) { return i < count ? to_f32(from[i]) : 0.0f; });
  }
  static Float load_bytes(const int8_t* from) {
    return floats([&](uint32_t i) { return static_cast<float>(from[i]); });
  }
  static void store(float* to, Float x) { memcpy(to, x.lane, sizeof x.lane); }
  static void store_first(float* to, uint32_t count, Float x) {
    memcpy(to, x.lane, (count < lanes ? count : lanes) * sizeof(float));
  }

  // ---- Arithmetic ----
  static Float add(Float a, Float b) {
    return floats([&](uint32_t i) { return a.lane[i] + b.lane[i]; });
  }
  static Float sub(Float a, Float b) {
    return floats([&](uint32_t i) { return a.lane[i] - b.lane[i]; });
  }
  static Float mul(Float a, Float b) {
    return floats([&](uint32_t i) { return a.lane[i] * b.lane[i]; });
  }
  static Float div(Float a, Float b) {
    return floats([&](uint32_t i) { return a.lane[i] / b.lane[i]; });
  }
  static Float fma(Float a, Float b, Float c) {
    if (!fused) return add(mul(a, b), c);
    return floats([&](uint32_t i) { return fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }
  static Float negated_fma(Float a, Float b, Float c) { return fma(negate(a), b, c); }
  static Float min(Float a, Float b) {
    return floats([&](uint32_t i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Float max(Float a, Float b) {
    return floats([&](uint32_t i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Float where_less(Float a, Float b, Float yes, Float no) {
    return floats([&](uint32_t i) { return a.lane[i] < b.lane[i] ? yes.lane[i] : no.lane[i]; });
  }
  static Float abs(Float x) {
    return floats([&](uint32_t i) { return fabsf(x.lane[i]); });
  }
  static Float negate(Float x) {
    return floats([&](uint32_t i) { return -x.lane[i]; });
  }
  static Float copy_sign(Float magnitude, Float x) {
    return floats([&](uint32_t i) { return copysignf(magnitude.lane[i], x.lane[i]); });
  }
  static Int to_int(Float x) {
    return ints([&](uint32_t i) {
      const float n = rintf(x.lane[i]);
      return n >= -0x1p31f && n < 0x1p31f ? static_cast<int32_t>(n) : INT32_MIN;
    });
  }
  static Float to_float(Int n) {
    return floats([&](uint32_t i) { return static_cast<float>(n.lane[i]); });
  }
  static Float add_to_exponent(Float x, Int n) {
    return floats([&](uint32_t i) {
      return f32_from_bits(bits_from_f32(x.lane[i]) + (static_cast<uint32_t>(n.lane[i]) << 23));
    });
  }

  // ---- Rows ----
  static float half(uint16_t h) { return f32_from_f16(h); }
  static float sum_lanes(Float x) {
    float sum = 0;
    for (const float lane : x.lane) sum += lane;
    return sum;
  }
  static Float first_of(uint32_t count, Float x, Float other) {
    return floats([&](uint32_t i) { return i < count ? x.lane[i] : other.lane[i]; });
  }
  static Float swap_neighbours(Float x) {
    return floats([&](uint32_t i) { return x.lane[i ^ 1]; });
  }
  static Float load_twice(const float* from, uint32_t count) {
    return floats([&](uint32_t i) { return i / 2 < count ? from[i / 2] : 0.0f; });
  }
  static Float sub_add(Float a, Float b) {
    return floats([&](uint32_t i) { return i % 2 == 0 ? a.lane[i] - b.lane[i] : a.lane[i] + b.lane[i]; });
  }

  static void transpose(Float (&x)[lanes]) {
    for (uint32_t i = 0; i < lanes; ++i) {
      for (uint32_t j = 0; j < i; ++j) {
        const float swapped = x[i].lane[j];
        x[i].lane[j] = x[j].lane[i];
        x[j].lane[i] = swapped;
      }
    }
  }
  static void store(uint16_t* to, Float x) {
    for (uint32_t i = 0; i < lanes; ++i) to[i] = f16_from_f32(x.lane[i]);
  }

  // ---- Integers and bytes ----
  static Int zero_int() { return {}; }
  static Int magnitude(Float x) {
    return ints([&](uint32_t i) { return static_cast<int32_t>(bits_from_f32(x.lane[i]) & 0x7FFFFFFFu); });
  }
  static Int max(Int a, Int b) {
    return ints([&](uint32_t i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Int add(Int a, Int b) {
    return ints([&](uint32_t i) {
      return static_cast<int32_t>(static_cast<uint32_t>(a.lane[i]) + static_cast<uint32_t>(b.lane[i]));
    });
  }
  static int32_t max_lanes(Int n) {
    int32_t most = n.lane[0];
    for (const int32_t lane : n.lane) most = lane > most ? lane : most;
    return most;
  }
  static int32_t sum_lanes(Int n) {
    int32_t sum = 0;
    for (const int32_t lane : n.lane) sum += lane;
    return sum;
  }
  static Int max_of_each(const Int x[lanes]) {
    return ints([&](uint32_t i) { return max_lanes(x[i]); });
  }
  static Int sum_of_each(const Int x[lanes]) {
    return ints([&](uint32_t i) { return sum_lanes(x[i]); });
  }
  static Float as_float(Int n) {
    return floats([&](uint32_t i) { return f32_from_bits(static_cast<uint32_t>(n.lane[i])); });
  }
  static Int bits(Float x) {
    return ints([&](uint32_t i) { return static_cast<int32_t>(bits_from_f32(x.lane[i])); });
  }
  static void store(int32_t* to, Int n) { memcpy(to, n.lane, sizeof n.lane); }

  static Bytes round_to_bytes(const Float x[kGroupColumns / lanes], Float by) {
    Bytes b;
    for (uint32_t i = 0; i < kGroupColumns; ++i) {
      const int32_t n = to_int(mul(x[i / lanes], by)).lane[i % lanes];
      b.byte[i] = static_cast<int8_t>(n < -128 ? -128 : n > 127 ? 127 : n);
    }
    return b;
  }
  static Bytes unless_zero(Float by, Bytes b) { return by.lane[0] != 0.0f ? b : Bytes{}; }
  static Int sum_by_lane(Bytes b) {
    Int sum = {};
    for (uint32_t i = 0; i < kGroupColumns; ++i) sum.lane[i % lanes] += b.byte[i];
    return sum;
  }
  static void store(int8_t* to, Bytes b) { memcpy(to, b.byte, sizeof b.byte); }

  // ---- Attention ----
  static Float where_within(uint32_t begin, uint32_t end, uint32_t first, Float x, float other) {
    return floats([&](uint32_t i) { return begin <= first + i && first + i < end ? x.lane[i] : other; });
  }
  static float max_lanes(Float x) {
    float most = x.lane[0];
    for (const float lane : x.lane) most = lane > most ? lane : most;
    return most;
  }
  static Total add_weights(Total sums, Float x) { return add(sums, x); }
  static float sum(Total sums) { return sum_lanes(sums); }

 private:
  static float to_f32(float value) { return value; }
  static float to_f32(uint16_t half) { return f32_from_f16(half); }
  template <class Lane>
  static Float floats(Lane lane) {
    Float x;
    for (uint32_t i = 0; i < lanes; ++i) x.lane[i] = lane(i);
    return x;
  }
  template <class Lane>
  static Int ints(Lane lane) {
    Int n;
    for (uint32_t i = 0; i < lanes; ++i) n.lane[i] = lane(i);
    return n;
  }
};

}  // namespace
}  // namespace mote::testing
