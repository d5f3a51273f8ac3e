// SPDX-License-Identifier: Apache-2.0
#include "host/media/picture_bytes.h"

#include "host/base/error.h"

namespace mote::pictures {

uint32_t PictureBytes::number16(size_t at) const {
  const std::span<const uint8_t> bytes = part(at, 2);
  return static_cast<uint32_t>(bytes[0] | bytes[1] << 8);
}

uint32_t PictureBytes::number32(size_t at) const { return number16(at) | number16(at + 2) << 16; }

void PictureBytes::fail_damaged(const char* what) const {
  convert::fail("the {} is damaged: {}", format_, what);
}

void PictureBytes::fail_unsupported(const char* what) const {
  convert::fail("a {} of {} is not supported; save it as PNG", format_, what);
}

void PictureBytes::check_sides(uint64_t width, uint64_t height, const Limits& limits,
                               uint64_t free_pixels) const {
  constexpr uint64_t kMostPixelsOfByte = 8192;
  if (width == 0 || height == 0) fail_damaged("it has no pixels");
  const uint64_t most = free_pixels + kMostPixelsOfByte * file_.size();
  if (height > limits.pixels / width || height > most / width)
    convert::fail("a {} of {} x {} pixels is too large", format_, width, height);
}

void PictureBytes::check_kept(uint64_t width, uint64_t height, uint64_t pixel_bytes,
                              const Limits& limits) const {
  if (width * height > limits.bytes / pixel_bytes)
    convert::fail("a {} of {} x {} pixels is too large: all of it has to be kept", format_, width, height);
}

}  // namespace mote::pictures
