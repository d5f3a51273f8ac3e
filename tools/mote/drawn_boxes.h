// SPDX-License-Identifier: Apache-2.0
//
// Draws the boxes that a detector of pictures finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mote::cli {

/// A box in pixels of the picture, which it may stand out of.
struct DrawnBox {
  std::string label;
  float probability;
  float left, top, right, bottom;
};

/// Returns an SVG of the picture, the bytes of a PNG or JPEG, with the boxes, likeliest first, and over them
/// their labels, filled. No label covers another: one for which the picture has no room is left to the box's
/// title.
std::string boxes_svg(std::span<const std::byte> picture, uint32_t width, uint32_t height,
                      const std::vector<DrawnBox>& boxes);

}  // namespace mote::cli
