// SPDX-License-Identifier: Apache-2.0
//
// The tiles of linear_float.inl.h and attention.inl.h in vectors of 512 bits. There are 32 registers, and an
// fma has a latency of 4 cycles and a throughput of 2 a cycle, or 1 where 512 bits take two passes: 8 sums or
// more must be in flight, and larger tiles load less for each product. Not in floats_512.inl.h, so that tests
// use the same tiles where AVX-512 is missing.
#pragma once

#include <stdint.h>

namespace mote {

struct TileShapes512 {
  static constexpr uint32_t kLanes = 16;
  static constexpr uint32_t kVectors = 1;  // of a panel's outputs, and of a block's positions

  // Linear, rows by panels: tiles are 1 x 4, up to 3 x 4, up to 8 x 3, and 8 x 2 or 8 x 1 for panels left
  // over.
  static constexpr uint32_t kRows = 8, kPanels = 3;
  static constexpr uint32_t kFewRows = 3, kFewPanels = 4;

  // Attention: queries that share a load, at most, and the blocks of 16 positions that 1 to 4 or as many
  // score; of columns they sum as many vectors.
  static constexpr uint32_t kQueries = 8;
  static constexpr uint32_t blocks(uint32_t queries) { return queries == 1 ? 8 : queries <= 4 ? 4 : 2; }
};

}  // namespace mote
