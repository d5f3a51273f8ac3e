// SPDX-License-Identifier: Apache-2.0
//
// Draws the boxes that a detector of pictures finds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/media/sides.h"
#include "host/tasks/picture_encoder.h"

namespace mote::cli {

/// Returns an SVG of the picture, the bytes of a PNG or JPEG, with the boxes and their labels over it.
std::string boxes_svg(std::span<const std::byte> picture, pictures::Sides sides,
                      const std::vector<host::Box>& boxes);

}  // namespace mote::cli
