// SPDX-License-Identifier: Apache-2.0
//
// ggml's block formats: what a block holds, and its values as f32, equal to ggml's own bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "converter/source.h"

namespace mote::convert {

struct BlockLayout {
  const char* name;
  uint32_t elements;  // of a block; 1 where the type has none
  uint32_t bytes;     // of a block
};
const BlockLayout& block_layout(SourceType type);

/// `out` receives the values of whole blocks, which start at `blocks` (any alignment).
void dequantize(SourceType type, const std::byte* blocks, std::span<float> out);

/// Whole blocks of a row of `columns` with their own scales and integers; only where has_exact_type.
void read_exact_blocks(SourceType type, const std::byte* blocks, uint64_t columns, QuantRow& out);

/// Q4_K's and Q5_K's eight scales and minima of 6 bits in 12 bytes: scales 0 to 3 in the low 6 bits of bytes
/// 0 to 3, minima 0 to 3 in bytes 4 to 7; 4 to 7 have their low 4 bits in bytes 8 to 11, the top 2 in those
/// of bytes 0 to 7.
struct ScaleMin {
  int scale, minimum;
};
ScaleMin scale_min(const std::byte* packed, size_t j);

}  // namespace mote::convert
