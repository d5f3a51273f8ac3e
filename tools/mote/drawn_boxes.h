// SPDX-License-Identifier: Apache-2.0
//
// Draws the boxes that a detector of pictures finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mote::cli {

/// A box in pixels of the picture, which it may stand out of.
struct DrawnBox {
  std::string label;
  float probability;
  float left, top, right, bottom;
};

/// Returns the type of a picture that browsers show, as "png"; empty: they do not show it (TIFF, PNM).
std::string_view browser_type(std::span<const std::byte> picture);

/// Returns an SVG of the picture, the bytes of a file that browsers show, with the boxes, likeliest first,
/// and over them their labels, filled. No label covers another: one for which the picture has no room is left
/// to the box's title.
std::string boxes_svg(std::span<const std::byte> picture, uint32_t width, uint32_t height,
                      const std::vector<DrawnBox>& boxes);

}  // namespace mote::cli
