// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mote/pictures.h"

namespace mote::pictures {

/// Says whether pictures of a model of any size choose the sides that they are resized to.
inline bool chooses_size(const mote_picture_info& info) {
  if (info.any_size == 0 || info.step_count == 0) return false;
  const mote_picture_step_kind first = info.steps[0].kind;
  return first == MOTE_PICTURE_RESIZE_BOUNDED || first == MOTE_PICTURE_RESIZE_EVENLY ||
         first == MOTE_PICTURE_RESIZE_PATCHES;
}

}  // namespace mote::pictures
