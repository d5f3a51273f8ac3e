// SPDX-License-Identifier: Apache-2.0
//
// BMP of Windows and OS/2: palettes, packed or not, and colours of 16, 24 and 32 bits.
#include <algorithm>
#include <array>
#include <vector>

#include "host/media/picture_bytes.h"

namespace mote::pictures {
namespace {

constexpr size_t kFileHeader = 14;
constexpr uint32_t kPlain = 0, kPacked8 = 1, kPacked4 = 2, kMasked = 3;  // kinds of compression

struct Bmp {
  uint32_t width = 0, height = 0, bits = 0, compression = kPlain;
  bool from_top = false;
  size_t rows_at = 0;
  std::array<uint8_t, 256 * kColours> palette{};
  std::array<uint8_t, kColours> places{2, 1, 0};  // of red, green and blue in a pixel of 24 or 32 bits
  uint32_t green_bits = 5;                        // of 16 bits

  size_t row_bytes() const { return (size_t{width} * bits + 31) / 32 * 4; }
};

/// Takes the masks of colours that Pillow knows.
void read_masks(const PictureBytes& file, uint32_t header, Bmp& bmp) {
  const std::array<uint32_t, 4> masks = {file.number32(54), file.number32(58), file.number32(62),
                                         header >= 56 ? file.number32(66) : 0};
  struct Known {
    uint32_t bits;
    std::array<uint32_t, 4> masks;
    std::array<uint8_t, kColours> places;
  };
  constexpr uint32_t kFirst = 0xFF, kSecond = 0xFF00, kThird = 0xFF0000, kFourth = 0xFF000000;
  static constexpr Known kKnown[] = {{32, {kThird, kSecond, kFirst, 0}, {2, 1, 0}},
                                     {32, {kFourth, kThird, kSecond, 0}, {3, 2, 1}},
                                     {32, {kFourth, kSecond, kFirst, 0}, {3, 1, 0}},
                                     {32, {kFourth, kThird, kSecond, kFirst}, {3, 2, 1}},
                                     {32, {kFirst, kSecond, kThird, kFourth}, {0, 1, 2}},
                                     {32, {kThird, kSecond, kFirst, kFourth}, {2, 1, 0}},
                                     {32, {kFourth, kSecond, kFirst, kThird}, {3, 1, 0}},
                                     {32, {0, 0, 0, 0}, {2, 1, 0}},
                                     {24, {kThird, kSecond, kFirst, 0}, {2, 1, 0}},
                                     {16, {0xF800, 0x7E0, 0x1F, 0}, {6, 0, 0}},
                                     {16, {0x7C00, 0x3E0, 0x1F, 0}, {5, 0, 0}}};
  const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& one) {
    const size_t count = one.bits == 32 ? 4 : kColours;
    return one.bits == bmp.bits && std::equal(one.masks.begin(), one.masks.begin() + count, masks.begin());
  });
  if (known == std::end(kKnown)) file.fail_unsupported("such masks of its colours");
  if (bmp.bits == 16)
    bmp.green_bits = known->places[0];
  else
    bmp.places = known->places;
}

/// Reads the palette; returns the bytes that it takes. Numbers beyond it are black, or their own grey if all
/// of it are.
size_t read_palette(const PictureBytes& file, size_t at, size_t count, size_t colour_bytes, Bmp& bmp) {
  if (count > 256) file.fail_unsupported("more than 256 colours in its palette");
  const auto stored = file.part(at, count * colour_bytes);
  bool is_grey = true;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t expected = static_cast<uint8_t>(count == 2 && i == 1 ? 255 : i);
    for (size_t colour = 0; colour < kColours; ++colour) {
      const uint8_t value = stored[i * colour_bytes + 2 - colour];
      bmp.palette[i * kColours + colour] = value;
      is_grey = is_grey && value == expected;
    }
  }
  // Pillow reads what has such a palette as pixels of 1 or 8 bits, however many they have.
  if (is_grey && bmp.bits != (count <= 2 ? 1u : 8u))
    file.fail_unsupported("a palette of greys with so many bits");
  if (is_grey && count <= 2) std::fill_n(bmp.palette.begin() + kColours, kColours, uint8_t{255});
  for (size_t i = count; is_grey && count > 2 && i < 256; ++i)
    write_grey(static_cast<uint32_t>(i), &bmp.palette[i * kColours]);
  return stored.size();
}

Bmp read_header(const PictureBytes& file) {
  Bmp bmp;
  const uint32_t header = file.number32(kFileHeader);
  size_t colours = 0, colour_bytes = 4;
  if (header == 12) {
    bmp.width = file.number16(18);
    bmp.height = file.number16(20);
    bmp.bits = file.number16(24);
    colour_bytes = 3;
  } else {
    constexpr std::array<uint32_t, 6> kHeaders = {40, 52, 56, 64, 108, 124};
    if (std::find(kHeaders.begin(), kHeaders.end(), header) == kHeaders.end())
      file.fail_unsupported("such a header");
    file.part(kFileHeader, header);
    bmp.width = file.number32(18);
    bmp.height = file.number32(22);
    bmp.from_top = bmp.height >> 24 == 0xFF;
    if (bmp.from_top) bmp.height = 0u - bmp.height;
    bmp.bits = file.number16(28);
    bmp.compression = file.number32(30);
    colours = file.number32(46);
  }
  constexpr std::array<uint32_t, 6> kBits = {1, 4, 8, 16, 24, 32};
  if (std::find(kBits.begin(), kBits.end(), bmp.bits) == kBits.end())
    file.fail_unsupported("so many bits a pixel");
  if (colours == 0) colours = size_t{1} << std::min(bmp.bits, 16u);
  size_t behind = kFileHeader + header;
  if (bmp.compression == kMasked) {
    read_masks(file, header, bmp);
    if (header == 40) behind += 12;
  } else if (bmp.compression > kMasked || (bmp.compression == kPacked8 && bmp.bits != 8) ||
             (bmp.compression == kPacked4 && bmp.bits != 4)) {
    file.fail_unsupported("such a compression");
  }
  bmp.rows_at = file.number32(10);
  const bool ends_with_header = bmp.rows_at == kFileHeader + header;
  if (bmp.bits <= 8) behind += read_palette(file, behind, colours, colour_bytes, bmp);
  if (bmp.rows_at == 0 || (ends_with_header && bmp.bits <= 8)) bmp.rows_at = behind;
  return bmp;
}

/// Unpacks runs of numbers (RLE), as Pillow does: what is skipped has the number 0.
class Unpacker {
 public:
  Unpacker(const PictureBytes& file, const Bmp& bmp)
      : file_(file),
        width_(bmp.width),
        all_(size_t{bmp.width} * bmp.height),
        at_(bmp.rows_at),
        is_of_4_bits_(bmp.compression == kPacked4) {}

  std::vector<uint8_t> unpack() {
    numbers_.reserve(all_);
    while (numbers_.size() < all_ && step()) {
    }
    if (numbers_.size() < all_) file_.fail_damaged("its rows end too early");
    return std::move(numbers_);
  }

 private:
  /// Returns false where the picture says to end.
  bool step() {
    const size_t count = file_.byte(at_);
    const uint8_t value = file_.byte(at_ + 1);
    at_ += 2;
    if (count != 0) {
      const size_t fits = x_ + count > width_ ? width_ - std::min(width_, x_) : count;
      for (size_t i = 0; i < fits; ++i) add(is_of_4_bits_ ? (i % 2 == 0 ? value >> 4 : value & 15) : value);
      x_ += fits;
      return true;
    }
    if (value == 0) {
      while (numbers_.size() % width_ != 0) add(0);
      x_ = 0;
    } else if (value == 1) {
      return false;
    } else if (value == 2) {
      const size_t skipped = file_.byte(at_) + file_.byte(at_ + 1) * width_;
      at_ += 2;
      numbers_.resize(std::min(all_, numbers_.size() + skipped));
      x_ = numbers_.size() % width_;
    } else {
      take_plain(value);
    }
    return true;
  }

  void take_plain(size_t count) {
    x_ += count;
    count = std::min(count, all_ - numbers_.size());
    const auto bytes = file_.part(at_, is_of_4_bits_ ? (count + 1) / 2 : count);
    for (size_t i = 0; i < count; ++i)
      add(is_of_4_bits_ ? (i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15) : bytes[i]);
    at_ += bytes.size();
    at_ += at_ % 2;
  }

  void add(int number) { numbers_.push_back(static_cast<uint8_t>(number)); }

  const PictureBytes& file_;
  size_t width_, all_, at_, x_ = 0;
  bool is_of_4_bits_;
  std::vector<uint8_t> numbers_;
};

/// Returns the number of a colour in a row of them.
uint32_t number_in(const uint8_t* row, uint32_t x, uint32_t bits) {
  const uint32_t in_byte = 8 / bits;
  return (row[x / in_byte] >> (8 - bits * (x % in_byte + 1))) & ((1u << bits) - 1);
}

void write_pixels(const Bmp& bmp, const uint8_t* stored, uint32_t bits, uint8_t* row) {
  for (uint32_t x = 0; x < bmp.width; ++x, row += kColours) {
    if (bits <= 8) {
      std::copy_n(&bmp.palette[number_in(stored, x, bits) * kColours], kColours, row);
    } else if (bits == 16) {
      const uint32_t pixel = stored[2 * x] | static_cast<uint32_t>(stored[2 * x + 1]) << 8;
      const uint32_t greens = (1u << bmp.green_bits) - 1;
      row[0] = static_cast<uint8_t>((pixel >> (5 + bmp.green_bits) & 31) * 255 / 31);
      row[1] = static_cast<uint8_t>((pixel >> 5 & greens) * 255 / greens);
      row[2] = static_cast<uint8_t>((pixel & 31) * 255 / 31);
    } else {
      for (size_t colour = 0; colour < kColours; ++colour)
        row[colour] = stored[size_t{x} * (bits / 8) + bmp.places[colour]];
    }
  }
}

}  // namespace

void read_bmp(std::span<const std::byte> bytes, const Limits& limits, RowSink& sink) {
  const PictureBytes file(bytes, "BMP");
  const Bmp bmp = read_header(file);
  file.check_sides(bmp.width, bmp.height, limits);
  const bool is_packed = bmp.compression == kPacked8 || bmp.compression == kPacked4;
  std::vector<uint8_t> numbers;
  size_t row_bytes = bmp.row_bytes();
  const uint8_t* stored = nullptr;
  if (is_packed) {
    file.check_kept(bmp.width, bmp.height, 1, limits);
    numbers = Unpacker(file, bmp).unpack();
    stored = numbers.data();
    row_bytes = bmp.width;
  } else {
    stored = file.part(bmp.rows_at, row_bytes * bmp.height).data();
  }
  sink.begin(bmp.width, bmp.height);
  std::vector<uint8_t> row(size_t{bmp.width} * kColours);
  for (uint32_t y = 0; y < bmp.height; ++y) {
    const uint32_t line = bmp.from_top ? y : bmp.height - 1 - y;
    write_pixels(bmp, stored + line * row_bytes, is_packed ? 8 : bmp.bits, row.data());
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
