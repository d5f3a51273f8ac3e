// SPDX-License-Identifier: Apache-2.0
//
// What a detector of pictures finds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/mote/picture_encoder.h"

namespace mote::cli {

/// A box in pixels of the picture, which it may stand out of.
struct Box {
  std::string label;
  float probability;
  float left, top, right, bottom;
};

/// Of a row each, the likeliest label where it is likelier than `threshold`; the likeliest first.
std::vector<Box> found_boxes(const ModelFile& file, const PictureEncoder& encoder, float threshold);

/// An SVG of the picture, the bytes of a PNG or JPEG, with the boxes and their labels over it.
std::string boxes_svg(std::span<const std::byte> picture, pictures::Sides sides,
                      const std::vector<Box>& boxes);

}  // namespace mote::cli
