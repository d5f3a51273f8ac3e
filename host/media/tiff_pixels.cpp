// SPDX-License-Identifier: Apache-2.0
#include "host/media/tiff_pixels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mote::pictures {
namespace {

// TIFF's numbers.
constexpr uint32_t kWhiteIsZero = 0, kBlackIsZero = 1, kRgb = 2, kPalette = 3, kInks = 5, kYCbCr = 6;
constexpr uint32_t kUnsigned = 1, kSigned = 2, kFloat = 3;
constexpr uint16_t kPremultiplied = 1;

uint32_t bits_at(const uint8_t* samples, uint32_t x, const TiffPixels& pixels) {
  if (pixels.bits == 8) return samples[size_t{x} * pixels.samples];
  const uint32_t in_byte = 8 / pixels.bits;
  return (samples[x / in_byte] >> (8 - pixels.bits * (x % in_byte + 1))) & ((1u << pixels.bits) - 1);
}

void grey_row(const TiffPixels& pixels, const uint8_t* samples, uint32_t width, uint8_t* row) {
  const uint32_t most = (1u << pixels.bits) - 1;
  for (uint32_t x = 0; x < width; ++x) {
    const uint32_t value = bits_at(samples, x, pixels) * (255 / most);
    write_grey(pixels.photometric == kWhiteIsZero ? 255 - value : value, row + size_t{x} * kColours);
  }
}

/// Grey of a wider type, which ends at 0 and 255.
template <class T>
void wide_grey_row(const TiffPixels&, const uint8_t* samples, uint32_t width, uint8_t* row) {
  for (uint32_t x = 0; x < width; ++x) {
    T value;
    std::memcpy(&value, samples + size_t{x} * sizeof value, sizeof value);
    // A float that is none compares with nothing and is black.
    write_grey(value >= T{255} ? 255u
               : value > T{0}  ? static_cast<uint32_t>(value)
                               : 0u,
               row + size_t{x} * kColours);
  }
}

void palette_row(const TiffPixels& pixels, const uint8_t* samples, uint32_t width, uint8_t* row) {
  for (uint32_t x = 0; x < width; ++x)
    std::copy_n(&pixels.palette[bits_at(samples, x, pixels) * kColours], kColours,
                row + size_t{x} * kColours);
}

/// Copies the samples of a pixel as bytes: of 16 bits, the upper ones.
void bytes_of_pixel(const TiffPixels& pixels, const uint8_t* samples, uint32_t x, size_t count,
                    uint8_t* bytes) {
  const size_t first = size_t{x} * pixels.samples;
  for (size_t i = 0; i < count; ++i) {
    if (pixels.bits == 8) {
      bytes[i] = samples[first + i];
      continue;
    }
    uint16_t value;
    std::memcpy(&value, samples + (first + i) * sizeof value, sizeof value);
    bytes[i] = static_cast<uint8_t>(value >> 8);
  }
}

void colour_row(const TiffPixels& pixels, const uint8_t* samples, uint32_t width, uint8_t* row) {
  for (uint32_t x = 0; x < width; ++x)
    bytes_of_pixel(pixels, samples, x, kColours, row + size_t{x} * kColours);
}

/// Colours that are multiplied with their opacity already.
void premultiplied_row(const TiffPixels& pixels, const uint8_t* samples, uint32_t width, uint8_t* row) {
  for (uint32_t x = 0; x < width; ++x) {
    uint8_t pixel[kColours + 1];
    bytes_of_pixel(pixels, samples, x, std::size(pixel), pixel);
    const uint32_t opacity = pixel[kColours];
    for (size_t i = 0; i < kColours; ++i)
      *row++ = opacity == 0 ? uint8_t{0} : static_cast<uint8_t>(std::min(255u, pixel[i] * 255u / opacity));
  }
}

void ink_row(const TiffPixels& pixels, const uint8_t* samples, uint32_t width, uint8_t* row) {
  for (uint32_t x = 0; x < width; ++x) {
    uint8_t inks[4];
    bytes_of_pixel(pixels, samples, x, std::size(inks), inks);
    colours_of_inks(inks, row + size_t{x} * kColours);
  }
}

TiffRow wide_grey(const PictureBytes& file, const TiffPixels& pixels) {
  const bool is_inverted = pixels.photometric == kWhiteIsZero;
  if (pixels.samples == 1 && pixels.sample_format == kFloat && pixels.bits == 32) return wide_grey_row<float>;
  // Pillow leaves the 16 bits of a little-endian file as they are, inverted or not.
  if (pixels.samples == 1 && pixels.sample_format == kUnsigned && pixels.bits == 16 &&
      !(is_inverted && pixels.is_big_endian))
    return wide_grey_row<uint16_t>;
  if (pixels.samples == 1 && !is_inverted) {
    if (pixels.sample_format == kSigned && pixels.bits == 16) return wide_grey_row<int16_t>;
    if (pixels.bits == 32 &&
        (pixels.sample_format == kSigned || (pixels.sample_format == kUnsigned && !pixels.is_big_endian)))
      return wide_grey_row<int32_t>;
  }
  file.fail_unsupported("such grey");
}

TiffRow one_sample_row(const PictureBytes& file, const TiffPixels& pixels) {
  const bool is_narrow = pixels.bits == 1 || pixels.bits == 2 || pixels.bits == 4;
  const bool is_grey = pixels.photometric != kPalette;
  if (!is_narrow && pixels.bits != 8) {
    if (is_grey) return wide_grey(file, pixels);
    file.fail_unsupported("a palette of so many bits");
  }
  const bool takes_sign =
      is_grey && pixels.photometric == kBlackIsZero && pixels.bits == 8 && pixels.samples == 1;
  if (pixels.sample_format != kUnsigned && !(takes_sign && pixels.sample_format == kSigned))
    file.fail_unsupported("such numbers");
  if (pixels.samples == 2 && (is_narrow || pixels.photometric == kWhiteIsZero || pixels.extras.size() != 1 ||
                              pixels.extras[0] == kPremultiplied))
    file.fail_unsupported("such grey with transparency");
  if (pixels.samples > 2) file.fail_unsupported("so many samples a pixel");
  return is_grey ? grey_row : palette_row;
}

}  // namespace

uint32_t tiff_colours(const TiffPixels& pixels) {
  if (pixels.photometric == kInks) return 4;
  return pixels.photometric == kRgb || pixels.photometric == kYCbCr ? 3 : 1;
}

TiffRow tiff_row(const PictureBytes& file, const TiffPixels& pixels) {
  constexpr uint32_t kMostSamples = 6;
  if (pixels.photometric <= kBlackIsZero || pixels.photometric == kPalette)
    return one_sample_row(file, pixels);
  const uint32_t colours = tiff_colours(pixels);
  if (pixels.photometric != kRgb && pixels.photometric != kInks &&
      !(pixels.photometric == kYCbCr && pixels.is_jpeg))
    file.fail_unsupported(pixels.photometric == kYCbCr ? "YCbCr that is no JPEG" : "such colours");
  if (pixels.sample_format != kUnsigned || (pixels.bits != 8 && pixels.bits != 16))
    file.fail_unsupported("colours of such numbers");
  if (pixels.samples < colours || pixels.samples > kMostSamples)
    file.fail_unsupported("so many samples a pixel");
  const bool has_unnamed = pixels.photometric == kRgb && pixels.samples == 4 && pixels.extras.empty();
  const bool has_extras = pixels.samples - colours == pixels.extras.size();
  if ((!has_unnamed && !has_extras) || (pixels.bits == 16 && pixels.samples > 4))
    file.fail_unsupported("such samples beside its colours");
  if (pixels.photometric == kInks) return ink_row;
  return !pixels.extras.empty() && pixels.extras[0] == kPremultiplied ? premultiplied_row : colour_row;
}

}  // namespace mote::pictures
