// SPDX-License-Identifier: Apache-2.0
//
// Vectors in plain C++ for the VNNI kernels of Linear, so that every processor tests their tiles and their
// arithmetic.
#pragma once

#include "kernels/reference/linear.inl.h"
#include "kernels/simd/linear_operands.inl.h"
#include "tests/support/unity_style.h"

namespace mote::testing {
namespace {

/// Vectors of `lanes` int32 or float with the shapes of Vnni512 (16) or Vnni256 (8).
template <uint32_t lanes>
struct PlainVnni {
  struct Int {
    uint32_t lane[lanes];
  };
  struct Float {
    float lane[lanes];
  };
  static constexpr uint32_t kVectors = kPanelRows / lanes;
  static constexpr uint32_t kWeightBias = 128;
  static constexpr uint32_t kRowPanels = kLinearStreams, kPairRows = lanes / 4, kSingleRows = lanes / 2;
  static constexpr bool kUnpacks = lanes == 16;
  static constexpr bool kUnrolls = false;
  static constexpr bool kUnrollsQuads = false;

  static Int load(const void* bytes) {
    check_aligned(bytes, sizeof(Int));
    Int v;
    memcpy(&v, bytes, sizeof v);
    return v;
  }
  static void store(void* bytes, Int v) {
    check_aligned(bytes, sizeof(Int));
    memcpy(bytes, &v, sizeof v);
  }
  static Int zero() { return {}; }
  static Int set(int32_t value) {
    return make<Int>([&](uint32_t) { return static_cast<uint32_t>(value); });
  }
  static Int broadcast_word(const char* bytes) {
    int32_t word;
    memcpy(&word, bytes, 4);
    return set(word);
  }

  static Int low_nibbles(Int v) {
    return make<Int>([&](uint32_t i) { return v.lane[i] & 0x0F0F0F0Fu; });
  }
  static Int high_nibbles(Int v) {
    return make<Int>([&](uint32_t i) { return v.lane[i] >> 4 & 0x0F0F0F0Fu; });
  }
  static Int high_nibbles_in_place(Int v) {
    return make<Int>([&](uint32_t i) { return v.lane[i] & 0xF0F0F0F0u; });
  }
  /// Of each byte, mod 2^8.
  static Int minus_8(Int v) {
    return make<Int>(
        [&](uint32_t i) { return ((v.lane[i] | 0x80808080u) - 0x08080808u) ^ (~v.lane[i] & 0x80808080u); });
  }
  static Int add_128(Int v) {
    return make<Int>([&](uint32_t i) { return v.lane[i] ^ 0x80808080u; });
  }
  /// vpdpbusd: mod 2^32.
  static Int dot(Int sum, Int u8, Int s8) {
    return make<Int>([&](uint32_t i) {
      uint32_t total = sum.lane[i];
      for (uint32_t byte = 0; byte < 32; byte += 8) {
        const int32_t u = static_cast<uint8_t>(u8.lane[i] >> byte),
                      s = static_cast<int8_t>(s8.lane[i] >> byte);
        total += static_cast<uint32_t>(u * s);
      }
      return total;
    });
  }
  static Int dot_word(Int sum, Int u8, const char* word) { return dot(sum, u8, broadcast_word(word)); }
  template <int by, uint32_t mask>
  static Int shifted(Int v) {
    return make<Int>(
        [&](uint32_t i) { return (by < 0 ? v.lane[i] >> (-by & 31) : v.lane[i] << (by & 31)) & mask; });
  }
  template <uint32_t byte>
  static Int signed_byte(Int v) {
    return make<Int>(
        [&](uint32_t i) { return static_cast<uint32_t>(static_cast<int8_t>(v.lane[i] >> 8 * byte)); });
  }
  static Int either(Int a, Int b) {
    return make<Int>([&](uint32_t i) { return a.lane[i] | b.lane[i]; });
  }
  static Int plus(Int a, Int b) {
    return make<Int>([&](uint32_t i) { return a.lane[i] + b.lane[i]; });
  }
  static Int times(Int a, Int b) {
    return make<Int>([&](uint32_t i) { return a.lane[i] * b.lane[i]; });
  }
  /// Of each byte, which is below 64.
  static Int minus_32(Int v) {
    return make<Int>([&](uint32_t i) { return ((v.lane[i] | 0x80808080u) - 0x20202020u) ^ 0x80808080u; });
  }
  static void pin(Int&) {}
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return make<Int>([&](uint32_t i) { return 0u - factor * v.lane[i]; });
  }
  static Int add_sixteenth(Int sum, Int v) {
    return make<Int>([&](uint32_t i) {
      return sum.lane[i] + static_cast<uint32_t>(static_cast<int32_t>(v.lane[i]) >> 4);
    });
  }

  static Float set(float value) {
    return make<Float>([&](uint32_t) { return value; });
  }
  static Float load_f32(const float* from) {
    check_aligned(from, sizeof(Float));
    return make<Float>([&](uint32_t i) { return from[i]; });
  }
  static Float load_f16(const uint16_t* from) {
    check_aligned(from, sizeof(Float) / 2);
    return make<Float>([&](uint32_t i) { return f32_from_f16(from[i]); });
  }
  static Float convert(Int v) {
    return make<Float>([&](uint32_t i) { return static_cast<float>(static_cast<int32_t>(v.lane[i])); });
  }
  static Float mul(Float a, Float b) {
    return make<Float>([&](uint32_t i) { return a.lane[i] * b.lane[i]; });
  }
  static Float fma(Float a, Float b, Float c) {
    return make<Float>([&](uint32_t i) { return fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }

  static void store_f32(float* to, Float v) {
    check_aligned(to, sizeof(Float));
    memcpy(to, &v, sizeof v);
  }

  static Float add(Float a, Float b) {
    return make<Float>([&](uint32_t i) { return a.lane[i] + b.lane[i]; });
  }
  static Float load_first(const float* from, uint32_t count) {
    return make<Float>([&](uint32_t i) { return i < count ? from[i] : 0.0f; });
  }
  static void store_first(float* to, uint32_t count, Float v) {
    memcpy(to, &v, (count < lanes ? count : lanes) * sizeof(float));
  }

  static void finish(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel, const float* sums) {
    const auto* panel_sums = reinterpret_cast<const float(*)[kPanelRows]>(sums);
    for (uint32_t r = 0; r < rows; ++r) ref::finish_panel(args, row + r, panel, panel_sums[r]);
  }

 private:
  // Not inlined: a tile has hundreds of calls.
  template <class Vector, class Lane>
  __attribute__((noinline)) static Vector make(Lane lane) {
    Vector v;
    for (uint32_t i = 0; i < lanes; ++i) v.lane[i] = lane(i);
    return v;
  }
  static void check_aligned(const void* bytes, size_t alignment) {
    if (reinterpret_cast<uintptr_t>(bytes) % alignment != 0) TEST_FAIL_MESSAGE("misaligned");
  }
};

}  // namespace
}  // namespace mote::testing
