// SPDX-License-Identifier: Apache-2.0
//
// The tile registers of AMX-INT8, as linear_amx.inl.h uses them: 16 rows of 64 bytes each (Intel SDM volume
// 1, chapter 18). Tiles 0 to 3 hold sums, 4 and 5 rows of activations, 6 and 7 weights.
//
// Written in asm, because the intrinsics of GCC 12 do not declare the memory that they read.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mote {
namespace {

struct AmxTiles {
  /// Sets the columns of int8 that a product adds up: rows of activations have so many bytes, and weights a
  /// quarter as many rows. Sets every tile to 0.
  template <uint32_t columns>
  static void configure() {
    static constexpr Shapes kShapes = shapes(columns);
    __asm__ volatile("ldtilecfg %0" : : "m"(kShapes));
  }
  /// Called when the tiles are no longer needed, so that a context switch does not save them.
  static void release() { __asm__ volatile("tilerelease"); }

  template <uint32_t tile>
  static void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(tile));
  }
  /// Rows from `from` on, each `stride` bytes after the last.
  template <uint32_t tile>
  static void load(const void* from, size_t stride) {
    __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(tile), "r"(from), "r"(stride) : "memory");
  }
  template <uint32_t tile>
  static void store(void* to, size_t stride) {
    __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(tile), "r"(to), "r"(stride) : "memory");
  }
  /// sums [16][16] += rows [16][columns] by weights [columns / 4][16][4], all signed, mod 2^32.
  template <uint32_t sums, uint32_t rows, uint32_t weights>
  static void dot() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(rows), "i"(weights));
  }

 private:
  struct alignas(64) Shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  };
  static constexpr Shapes shapes(uint32_t columns) {
    Shapes s = {};
    s.palette = 1;
    for (uint32_t tile = 0; tile < 8; ++tile) {
      const bool activations = tile == 4 || tile == 5, weights = tile > 5;
      s.row_bytes[tile] = static_cast<uint16_t>(activations ? columns : 64);
      s.rows[tile] = static_cast<uint8_t>(weights ? columns / 4 : 16);
    }
    return s;
  }
};

}  // namespace
}  // namespace mote
