// SPDX-License-Identifier: Apache-2.0
//
// GIF: the first frame on its canvas. What the frame does not cover is of its transparent colour or, without
// one, of the first colour, as Pillow has it.
#include <algorithm>
#include <array>
#include <vector>

#include "host/media/picture_bytes.h"

namespace mote::pictures {
namespace {

constexpr uint32_t kMostCodes = 4096, kMostCodeBits = 12;

struct Frame {
  uint32_t canvas_width = 0, canvas_height = 0;
  uint32_t left = 0, top = 0, width = 0, height = 0;
  bool is_interlaced = false;
  uint8_t background = 0;
  std::array<uint8_t, 256 * kColours> palette{};
  size_t codes_at = 0;
};

/// Gives the bits of codes, which lie in blocks of at most 255 bytes.
class CodeBits {
 public:
  CodeBits(const PictureBytes& file, size_t at) : file_(file), at_(at) {}

  uint32_t take(uint32_t bits) {
    for (; count_ < bits; count_ += 8) bits_ |= uint32_t{next_byte()} << count_;
    const uint32_t code = bits_ & ((1u << bits) - 1);
    bits_ >>= bits;
    count_ -= bits;
    return code;
  }

 private:
  uint8_t next_byte() {
    if (left_ == 0) left_ = file_.byte(at_++);
    if (left_ == 0) file_.fail_damaged("its rows end too early");
    --left_;
    return file_.byte(at_++);
  }

  const PictureBytes& file_;
  size_t at_;
  uint32_t left_ = 0, bits_ = 0, count_ = 0;
};

/// Unpacks the numbers of colours (LZW).
class Colours {
 public:
  Colours(const PictureBytes& file, size_t at)
      : file_(file), bits_(file, at + 1), first_bits_(file.byte(at)) {
    if (first_bits_ == 0 || first_bits_ > 8) file.fail_damaged("its codes have no such number of bits");
    clear_ = 1u << first_bits_;
    restart();
  }

  void read(std::span<uint8_t> row) {
    for (uint8_t& colour : row) {
      while (stacked_ == 0) next_code();
      colour = stack_[--stacked_];
    }
  }

 private:
  void restart() {
    next_ = clear_ + 2;
    code_bits_ = first_bits_ + 1;
    is_fresh_ = true;
  }

  void next_code() {
    const uint32_t code = bits_.take(code_bits_);
    if (code == clear_) return restart();
    if (code == clear_ + 1) file_.fail_damaged("its rows end too early");
    if (is_fresh_) {
      if (code > clear_) file_.fail_damaged("it has a code without meaning");
      is_fresh_ = false;
      first_ = static_cast<uint8_t>(code);
      stack_[stacked_++] = first_;
    } else {
      expand(code);
    }
    last_ = code;
  }

  /// Stacks the colours of a code, the last one first, and gives the last code and the first colour a code.
  void expand(uint32_t code) {
    if (code > next_) file_.fail_damaged("it has a code without meaning");
    uint32_t part = code;
    if (code == next_) {
      stack_[stacked_++] = first_;
      part = last_;
    }
    for (; part > clear_; part = earlier_[part]) {
      if (stacked_ + 1 >= stack_.size()) file_.fail_damaged("it has a code without meaning");
      stack_[stacked_++] = colour_[part];
    }
    first_ = static_cast<uint8_t>(part);
    stack_[stacked_++] = first_;
    if (next_ == kMostCodes) return;
    colour_[next_] = first_;
    earlier_[next_] = static_cast<uint16_t>(last_);
    if (next_ == (1u << code_bits_) - 1 && code_bits_ < kMostCodeBits) ++code_bits_;
    ++next_;
  }

  const PictureBytes& file_;
  CodeBits bits_;
  uint32_t first_bits_, code_bits_ = 0, clear_ = 0, next_ = 0, last_ = 0;
  bool is_fresh_ = true;
  uint8_t first_ = 0;
  std::array<uint16_t, kMostCodes> earlier_{};
  std::array<uint8_t, kMostCodes> colour_{};
  std::array<uint8_t, kMostCodes + 1> stack_{};
  size_t stacked_ = 0;
};

std::array<uint8_t, 256 * kColours> greys() {
  std::array<uint8_t, 256 * kColours> palette{};
  for (size_t i = 0; i < palette.size(); ++i) palette[i] = static_cast<uint8_t>(i / kColours);
  return palette;
}

/// Reads a palette of 2^bits colours, whose further numbers are black. One that gives each number its own
/// grey changes nothing: without any palette all do so, and Pillow then keeps to the palette of all frames.
size_t read_palette(const PictureBytes& file, size_t at, uint32_t bits, Frame& frame) {
  const auto colours = file.part(at, kColours << bits);
  const auto own_greys = greys();
  if (!std::equal(colours.begin(), colours.end(), own_greys.begin())) {
    frame.palette = {};
    std::copy(colours.begin(), colours.end(), frame.palette.begin());
  }
  return at + colours.size();
}

size_t skip_blocks(const PictureBytes& file, size_t at) {
  while (file.byte(at) != 0) at += 1 + size_t{file.byte(at)};
  return at + 1;
}

Frame first_frame(const PictureBytes& file) {
  constexpr uint8_t kHasPalette = 128, kIsInterlaced = 64, kHasTransparent = 1, kControl = 249;
  Frame frame;
  frame.canvas_width = file.number16(6);
  frame.canvas_height = file.number16(8);
  frame.palette = greys();
  const uint8_t screen = file.byte(10);
  size_t at = 13;
  if ((screen & kHasPalette) != 0) at = read_palette(file, at, (screen & 7) + 1u, frame);
  for (;;) {
    const uint8_t kind = file.byte(at++);
    if (kind == ';') file.fail_damaged("it has no picture");
    if (kind == '!') {
      const uint8_t extension = file.byte(at++);
      if (extension == kControl && file.byte(at) >= 4 && (file.byte(at + 1) & kHasTransparent) != 0)
        frame.background = file.byte(at + 4);
      at = skip_blocks(file, at);
      continue;
    }
    if (kind != ',') continue;
    frame.left = file.number16(at);
    frame.top = file.number16(at + 2);
    frame.width = file.number16(at + 4);
    frame.height = file.number16(at + 6);
    const uint8_t flags = file.byte(at + 8);
    frame.is_interlaced = (flags & kIsInterlaced) != 0;
    at += 9;
    if ((flags & kHasPalette) != 0) at = read_palette(file, at, (flags & 7) + 1u, frame);
    frame.codes_at = at;
    frame.canvas_width = std::max(frame.canvas_width, frame.left + frame.width);
    frame.canvas_height = std::max(frame.canvas_height, frame.top + frame.height);
    return frame;
  }
}

/// Returns all rows of an interlaced frame, from the top down.
std::vector<uint8_t> interlaced_rows(Colours& colours, const Frame& frame) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 4> kPasses = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  std::vector<uint8_t> rows(size_t{frame.width} * frame.height);
  for (const auto& [first, step] : kPasses) {
    for (uint32_t y = first; y < frame.height; y += step)
      colours.read({rows.data() + size_t{y} * frame.width, frame.width});
  }
  return rows;
}

}  // namespace

void read_gif(std::span<const std::byte> bytes, const Limits& limits, RowSink& sink) {
  const PictureBytes file(bytes, "GIF");
  const Frame frame = first_frame(file);
  if (frame.width == 0 || frame.height == 0) file.fail_damaged("its first frame has no pixels");
  file.check_sides(frame.canvas_width, frame.canvas_height, limits);
  if (frame.is_interlaced) file.check_kept(frame.width, frame.height, 1, limits);
  sink.begin(frame.canvas_width, frame.canvas_height);
  Colours colours(file, frame.codes_at);
  std::vector<uint8_t> kept;
  if (frame.is_interlaced) kept = interlaced_rows(colours, frame);
  std::vector<uint8_t> numbers(frame.canvas_width), row(size_t{frame.canvas_width} * kColours);
  for (uint32_t y = 0; y < frame.canvas_height; ++y) {
    const bool is_inside = y >= frame.top && y - frame.top < frame.height;
    std::fill(numbers.begin(), numbers.end(), frame.background);
    const std::span<uint8_t> part(numbers.data() + frame.left, frame.width);
    if (is_inside && frame.is_interlaced)
      std::copy_n(kept.begin() + static_cast<ptrdiff_t>(size_t{y - frame.top} * frame.width), frame.width,
                  part.begin());
    else if (is_inside)
      colours.read(part);
    for (size_t x = 0; x < numbers.size(); ++x)
      std::copy_n(&frame.palette[numbers[x] * kColours], kColours, &row[x * kColours]);
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
