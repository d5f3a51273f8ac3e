// SPDX-License-Identifier: Apache-2.0
//
// Pictures as rows of bytes, one after the other, so that a decoder never holds a whole picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mote::pictures {

inline constexpr size_t kColours = 3;  // red, green, blue

/// Takes a picture from its first row on.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void begin(uint32_t width, uint32_t height) = 0;
  /// [width, 3], `height` times.
  virtual void row(const uint8_t* pixels) = 0;
};

/// What a file may cost. A picture beyond it is refused.
struct Limits {
  uint64_t pixels = uint64_t{1} << 30;   // decoded row by row
  uint64_t bytes = uint64_t{256} << 20;  // of memory, where a format keeps more than rows
};

// All throw convert::Error: what is damaged, or is not supported. Without libpng and libjpeg-turbo they say
// what to install.

void read_png(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_jpeg(std::span<const std::byte> file, const Limits& limits, RowSink& sink);

enum class FileType : uint8_t { png, jpeg };

/// By the file's first bytes, of which every other type is refused.
FileType type_of(std::span<const std::byte> file);

/// A file of either type.
void read_rows(std::span<const std::byte> file, const Limits& limits, RowSink& sink);

/// Whether EXIF data, a TIFF file, say that the picture is to be turned or mirrored.
bool exif_turns(const uint8_t* data, size_t bytes);

}  // namespace mote::pictures
