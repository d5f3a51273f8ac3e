// SPDX-License-Identifier: Apache-2.0
//
// Which sides a picture gets whose own decide about them, as the originals' processors compute it.
#pragma once

#include <cstdint>

namespace mote::pictures {

struct Sides {
  uint32_t height, width;
};

/// Multiples of `unit` near the sides, with from `least` to `most` pixels, the ratio nearly kept (Qwen2-VL).
/// Throws convert::Error for a side more than 200 times the other.
Sides rounded_sides(uint32_t height, uint32_t width, uint32_t unit, uint32_t least, uint32_t most);

/// The longer side becomes `longest`, the other even where it can be (Idefics3).
Sides longest_sides(uint32_t height, uint32_t width, uint32_t longest);

/// Multiples of `tile` that a picture of these sides is stretched to (Idefics3).
Sides tiled_sides(uint32_t height, uint32_t width, uint32_t tile);

/// The shorter side becomes `shortest`, or less where the longer would be more than `longest`; then both are
/// rounded down to multiples of `unit` (YOLOS), perhaps to 0.
Sides bounded_sides(uint32_t height, uint32_t width, uint32_t shortest, uint32_t longest, uint32_t unit);

}  // namespace mote::pictures
