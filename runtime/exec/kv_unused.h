// SPDX-License-Identifier: Apache-2.0
//
// Sets what a copy of a cache's keys or values holds behind the last token to zero. In a cache that is
// whatever the arena held before.
#pragma once

#include <string.h>

#include "kernels/ops.h"

namespace mote {

inline constexpr uint32_t kKvBlock = 16;  // positions

/// Clears the elements from position `used` on of `count` strips, each of `positions` elements of `bytes`
/// bytes.
inline void clear_strips(uint8_t* strips, uint32_t count, uint32_t positions, uint32_t bytes, uint32_t used) {
  if (used >= positions) return;
  for (uint32_t i = 0; i < count; ++i, strips += positions * bytes) {
    memset(strips + used * bytes, 0, (positions - used) * bytes);
  }
}

/// Positions of a value that lie side by side, of i8 with their scales.
inline uint32_t values_together(DType dtype) {
  return dtype == DType::i8 ? kKvBlock : dtype == DType::bf16 ? 2 : 1;
}

/// The first `used` keys of a head in a page, in whole blocks.
struct SavedKeys {
  DType dtype;
  uint32_t columns, used;

  uint64_t bytes() const { return align_up(used, kKvBlock) * kv_bytes(dtype, columns); }

  /// Strips of a column, of two of bf16, of four of i8 and of its scales.
  void clear_unused(uint8_t* copy) const {
    if (used % kKvBlock == 0) return;
    const uint32_t bytes = dtype == DType::f16 ? 2 : 4;
    const uint64_t block_bytes = kKvBlock * kv_bytes(dtype, columns);
    clear_strips(copy + used / kKvBlock * block_bytes,
                 static_cast<uint32_t>(block_bytes / (kKvBlock * bytes)), kKvBlock, bytes, used % kKvBlock);
  }
};

/// The first `used` values, as far as they do not lie beside others.
struct SavedValues {
  DType dtype;
  uint32_t columns, used;

  uint64_t bytes() const { return align_up(used, values_together(dtype)) * kv_bytes(dtype, columns); }

  void clear_unused(uint8_t* copy) const {
    const uint32_t together = values_together(dtype), left = used % together;
    if (left == 0) return;
    uint8_t* const last = copy + used / together * together * kv_bytes(dtype, columns);
    if (dtype == DType::bf16) return clear_strips(last, columns, 2, 2, left);
    clear_strips(last, 1, kKvBlock, sizeof(float), left);
    uint8_t* quads = last + kKvBlock * sizeof(float);
    for (uint32_t first = 0; first < kKvBlock; first += 4, quads += 4 * columns) {
      clear_strips(quads, columns, 4, 1, left > first ? left - first : 0);
    }
  }
};

}  // namespace mote
