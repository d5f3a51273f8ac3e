// SPDX-License-Identifier: Apache-2.0
//
// The steps that a model's file has for pictures, walked in their order.
#pragma once

#include "host/media/resample.h"
#include "host/media/sides.h"
#include "mote/pictures.h"

namespace mote::pictures {

/// The sides, filter and numbers that the steps make of a picture.
struct Prepared {
  Sides sides{};  // after it is resized
  Filter filter = Filter::bilinear;
  Sides crop{};                 // of the middle; 0: it is not cropped
  uint32_t tile = 0;            // of the squares that it is cut into; 0: it is not cut
  bool takes_others = false;    // a file for other sides could be made
  float factor = 1.0f;          // of bytes
  const float* mean = nullptr;  // of each colour, taken off
  const float* deviation = nullptr;
};

/// Returns what the steps make of a picture of these sides. Throws convert::Error for one whose sides are too
/// different.
Prepared prepare(const mote_picture_info& info, Sides own);

}  // namespace mote::pictures
