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

}  // namespace mote::convert
