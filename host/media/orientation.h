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

/// What metadata of a file say; numbers of orientations are from 1, upright, to 8. 0: nothing.
struct Orientation {
  uint32_t exif = 0, xmp = 0;

  Turn turn() const;
};

/// Of EXIF data, a TIFF file. 0 where it has no orientation, or is no such file.
uint32_t exif_orientation(std::span<const uint8_t> tiff);

/// The same of XMP, a text.
uint32_t xmp_orientation(std::string_view text);

/// Of the chunks of a PNG, wherever they lie. Throws convert::Error for texts that take too much memory.
Orientation png_orientation(std::span<const std::byte> file);

}  // namespace mote::pictures
