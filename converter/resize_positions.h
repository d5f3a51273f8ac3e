// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mote::convert {

/// Patches of a picture's sides.
struct PatchGrid {
  uint32_t rows = 0, columns = 0;
};

/// A table of positions [rows, columns, width] for another grid, by cubic convolution (a = -0.75) of the four
/// nearest positions in each direction, of which those outside are the nearest inside: torch's bicubic
/// interpolation without antialiasing and aligned corners.
std::vector<float> resize_positions(std::span<const float> table, PatchGrid from, PatchGrid to,
                                    uint32_t width);

}  // namespace mote::convert
