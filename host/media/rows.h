// SPDX-License-Identifier: Apache-2.0
//
// Pictures as rows of bytes, one after the other, so that a decoder never holds a whole picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mote::pictures {

inline constexpr size_t kColours = 3;  // red, green, blue

/// How a picture lies in its file: a phone's that was held upright has its columns as rows there. The columns
/// may go from right to left, and the rows from the bottom up.
struct Turn {
  bool swaps = false, from_right = false, from_below = false;

  bool is_none() const { return !swaps && !from_right && !from_below; }
};

/// Takes a picture from the first row of its file on.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// The sides are those of the picture as it is seen.
  virtual void begin(uint32_t width, uint32_t height, Turn turn) = 0;
  void begin(uint32_t width, uint32_t height) { begin(width, height, Turn{}); }
  /// [width, 3], `height` times; [height, 3], `width` times, of a file whose rows are the picture's columns.
  virtual void row(const uint8_t* pixels) = 0;
};

/// Begins with the sides of the file's rows.
inline void begin_file(RowSink& sink, uint32_t width, uint32_t height, Turn turn) {
  if (turn.swaps) return sink.begin(height, width, turn);
  sink.begin(width, height, turn);
}

/// The most that a file may cost. A picture beyond it is refused.
struct Limits {
  uint64_t pixels = uint64_t{1} << 30;   // decoded row by row
  uint64_t bytes = uint64_t{256} << 20;  // of memory, where a format keeps more than rows
};

// All throw convert::Error: what is damaged, or is not supported. Each gives the pixels that Pillow's
// convert("RGB") makes: transparency is dropped, grey of 16 bits ends at 255. Without the library of a format
// its reader says what to install.

void read_png(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_jpeg(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_webp(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_gif(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_bmp(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_tiff(std::span<const std::byte> file, const Limits& limits, RowSink& sink);
void read_pnm(std::span<const std::byte> file, const Limits& limits, RowSink& sink);

/// Reads a file of any of these formats, which its first bytes tell. Of several pictures it gives the first.
void read_rows(std::span<const std::byte> file, const Limits& limits, RowSink& sink);

}  // namespace mote::pictures
