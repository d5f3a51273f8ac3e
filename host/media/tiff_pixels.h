// SPDX-License-Identifier: Apache-2.0
//
// Makes colours of the numbers of a TIFF's pixels, as Pillow reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/media/picture_bytes.h"

namespace mote::pictures {

/// Describes the pixels of a TIFF by its tags; the numbers are TIFF's own.
struct TiffPixels {
  uint32_t photometric = 0;  // what the samples are
  uint32_t bits = 1, samples = 1, sample_format = 1;
  std::vector<uint16_t> extras;  // of the samples behind the colours
  bool is_big_endian = false;    // in the file; rows are given in this machine's order
  bool is_jpeg = false;          // whose YCbCr libtiff makes colours of
  std::vector<uint8_t> palette;  // [2^bits, 3]
};

/// Makes `width` pixels [width, 3] of a row of samples that lie pixel by pixel.
using TiffRow = void (*)(const TiffPixels& pixels, const uint8_t* samples, uint32_t width, uint8_t* row);

/// Returns what makes pixels of such rows; refuses by name what Pillow does not read, or is not supported.
TiffRow tiff_row(const PictureBytes& file, const TiffPixels& pixels);

/// Returns the number of samples that are colours, inks, a grey or a number of the palette.
uint32_t tiff_colours(const TiffPixels& pixels);

}  // namespace mote::pictures
