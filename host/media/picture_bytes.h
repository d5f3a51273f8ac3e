// SPDX-License-Identifier: Apache-2.0
//
// Gives readers of pictures bytes of a file that may end early, and bounds of what a picture may cost.
#pragma once

#include "host/media/rows.h"

namespace mote::pictures {

/// The bytes of a file of a format, which its messages name. Reading past the end throws convert::Error.
class PictureBytes {
 public:
  PictureBytes(std::span<const std::byte> file, const char* format) : file_(file), format_(format) {}

  size_t size() const { return file_.size(); }
  uint8_t byte(size_t at) const { return part(at, 1)[0]; }
  // Little-endian numbers.
  uint32_t number16(size_t at) const;
  uint32_t number32(size_t at) const;
  std::span<const uint8_t> part(size_t at, size_t count) const {
    if (at > file_.size() || count > file_.size() - at) fail_damaged("the file ends too early");
    return {reinterpret_cast<const uint8_t*>(file_.data()) + at, count};
  }
  [[noreturn]] void fail_damaged(const char* what) const;
  /// Refuses by the name of what is not supported.
  [[noreturn]] void fail_unsupported(const char* what) const;
  /// Refuses sides of no pixels or of more than the limits, or of more than `free_pixels` and 8192 for each
  /// byte of the file.
  void check_sides(uint64_t width, uint64_t height, const Limits& limits,
                   uint64_t free_pixels = uint64_t{1} << 22) const;
  /// Refuses to keep more bytes of a picture than the limits.
  void check_kept(uint64_t width, uint64_t height, uint64_t pixel_bytes, const Limits& limits) const;

 private:
  std::span<const std::byte> file_;
  const char* format_;
};

/// Returns round(a * b / 255).
inline uint8_t scaled_by_byte(uint32_t a, uint32_t b) {
  const uint32_t product = a * b + 128;
  return static_cast<uint8_t>(((product >> 8) + product) >> 8);
}

/// Makes colours of inks, cyan, magenta, yellow and black, as Pillow does.
inline void colours_of_inks(const uint8_t* inks, uint8_t* colours) {
  const uint32_t paper = 255u - inks[3];
  for (size_t i = 0; i < kColours; ++i)
    colours[i] = static_cast<uint8_t>(paper - scaled_by_byte(inks[i], paper));
}

/// Writes a grey value three times.
inline void write_grey(uint32_t value, uint8_t* colours) {
  colours[0] = colours[1] = colours[2] = static_cast<uint8_t>(value);
}

}  // namespace mote::pictures
