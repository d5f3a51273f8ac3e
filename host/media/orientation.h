// SPDX-License-Identifier: Apache-2.0
//
// How a picture lies in its file, as Pillow's ImageOps.exif_transpose reads it: EXIF's orientation, or where
// that is absent XMP's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/media/rows.h"

namespace mote::pictures {

/// The orientations that metadata of a file say; their numbers are from 1, upright, to 8. 0: nothing.
struct Orientation {
  uint32_t exif = 0, xmp = 0;

  Turn turn() const;
};

/// Returns the orientation of EXIF data, a TIFF file; 0 where they have no orientation, or are no such file.
uint32_t exif_orientation(std::span<const uint8_t> tiff);

/// Returns the orientation of EXIF data that may begin with their mark.
uint32_t marked_exif_orientation(std::span<const uint8_t> exif);

/// Returns the orientation of XMP, a text, as exif_orientation does.
uint32_t xmp_orientation(std::string_view text);

/// Returns the orientations of the chunks of a PNG, wherever the chunks lie. Throws convert::Error for texts
/// that take too much memory.
Orientation png_orientation(std::span<const std::byte> file);

}  // namespace mote::pictures
