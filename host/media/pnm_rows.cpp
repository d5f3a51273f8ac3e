// SPDX-License-Identifier: Apache-2.0
//
// PBM, PGM and PPM, in digits or bytes. Grey of more than 8 bits ends at 255, as it does in Pillow.
#include <algorithm>
#include <cmath>
#include <vector>

#include "host/media/picture_bytes.h"

namespace mote::pictures {
namespace {

constexpr size_t kMostDigits = 10;  // of a number
constexpr uint32_t kMostValue = 65535;

bool is_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// A place in the file, from which numbers in digits are read.
class Text {
 public:
  Text(const PictureBytes& file, size_t at) : file_(file), at_(at) {}

  size_t at() const { return at_; }

  /// Reads a number and the byte behind it, as the header has them.
  uint32_t header_number() {
    uint64_t value = 0;
    for (size_t count = 0;;) {
      const uint8_t byte = file_.byte(at_++);
      if (byte == '#') {
        skip_line();
      } else if (is_space(byte)) {
        if (count != 0) return static_cast<uint32_t>(value);
      } else {
        add_digit(byte, ++count, value);
      }
    }
  }

  /// Reads a number of the pixels, which may end with the file.
  uint32_t pixel_number() {
    skip_spaces();
    uint64_t value = 0;
    for (size_t count = 0; count == 0 || (at_ < file_.size() && !is_space(file_.byte(at_)));) {
      const uint8_t byte = file_.byte(at_++);
      if (byte == '#') {
        skip_line();
        continue;
      }
      add_digit(byte, ++count, value);
    }
    return static_cast<uint32_t>(value);
  }

  /// Reads one digit, 0 or 1; spaces between them are not needed.
  bool bit() {
    for (;;) {
      skip_spaces();
      const uint8_t byte = file_.byte(at_++);
      if (byte == '0' || byte == '1') return byte == '1';
      if (byte != '#') file_.fail_damaged("its pixels are not 0 or 1");
      skip_line();
    }
  }

 private:
  void skip_spaces() {
    while (is_space(file_.byte(at_))) ++at_;
  }
  void skip_line() {
    while (at_ < file_.size() && file_.byte(at_) != '\n' && file_.byte(at_) != '\r') ++at_;
    if (at_ < file_.size()) ++at_;
  }
  void add_digit(uint8_t byte, size_t count, uint64_t& value) {
    if (byte < '0' || byte > '9' || count > kMostDigits)
      file_.fail_damaged("it has no number where one should be");
    value = value * 10 + (byte - '0');
    if (value > UINT32_MAX) file_.fail_damaged("a number is too large");
  }

  const PictureBytes& file_;
  size_t at_;
};

struct Pnm {
  bool is_text, is_bits;
  uint32_t width = 0, height = 0, most = 1;
  size_t values = 1;  // of a pixel
};

/// Returns the byte of a value, or of grey of more bits what is left of it below 255.
uint8_t byte_of(const Pnm& pnm, uint32_t value) {
  const bool is_wide_grey = pnm.values == 1 && pnm.most > 255;
  const double range = is_wide_grey ? double{kMostValue} : 255.0;
  return static_cast<uint8_t>(
      std::min(255.0, std::nearbyint(double{static_cast<double>(value)} / pnm.most * range)));
}

class Rows {
 public:
  Rows(const PictureBytes& file, const Pnm& pnm, const Text& text)
      : file_(file), pnm_(pnm), text_(text), at_(text.at()) {
    bytes_of_values_.resize(size_t{pnm.most} + 1);
    for (uint32_t value = 0; value <= pnm.most; ++value) bytes_of_values_[value] = byte_of(pnm, value);
  }

  void read(uint8_t* row) {
    if (pnm_.is_bits) return read_bits(row);
    const size_t value_bytes = pnm_.most > 255 ? 2 : 1, count = pnm_.width * pnm_.values;
    const uint8_t* stored = pnm_.is_text ? nullptr : file_.part(at_, count * value_bytes).data();
    at_ += count * value_bytes;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t byte = bytes_of_values_[value_at(stored, i, value_bytes)];
      if (pnm_.values == 1)
        write_grey(byte, row + i * kColours);
      else
        row[i] = byte;
    }
  }

 private:
  uint32_t value_at(const uint8_t* stored, size_t i, size_t value_bytes) {
    uint32_t value = 0;
    if (pnm_.is_text) {
      value = text_.pixel_number();
      if (value > pnm_.most) file_.fail_damaged("a value is larger than its header says");
      return value;
    }
    for (size_t k = 0; k < value_bytes; ++k) value = value << 8 | stored[i * value_bytes + k];
    return std::min(value, pnm_.most);
  }

  void read_bits(uint8_t* row) {
    const size_t bytes = (size_t{pnm_.width} + 7) / 8;
    const uint8_t* stored = pnm_.is_text ? nullptr : file_.part(at_, bytes).data();
    at_ += bytes;
    for (uint32_t x = 0; x < pnm_.width; ++x) {
      const bool is_black = pnm_.is_text ? text_.bit() : (stored[x / 8] >> (7 - x % 8) & 1) != 0;
      write_grey(is_black ? 0 : 255, row + size_t{x} * kColours);
    }
  }

  const PictureBytes& file_;
  Pnm pnm_;
  Text text_;
  size_t at_;
  std::vector<uint8_t> bytes_of_values_;
};

}  // namespace

void read_pnm(std::span<const std::byte> bytes, const Limits& limits, RowSink& sink) {
  const PictureBytes file(bytes, "PNM");
  const uint32_t kind =
      file.byte(1) - uint32_t{'0'};  // 1 to 3 are texts, and of each three bits, grey, colours
  if (!is_space(file.byte(2))) file.fail_damaged("its kind is none from P1 to P6");
  Pnm pnm{kind <= 3, kind % 3 == 1};
  pnm.values = kind % 3 == 0 ? kColours : 1;
  Text text(file, 3);
  pnm.width = text.header_number();
  pnm.height = text.header_number();
  if (!pnm.is_bits) pnm.most = text.header_number();
  if (pnm.most == 0 || pnm.most > kMostValue) file.fail_damaged("its largest value is none from 1 to 65535");
  file.check_sides(pnm.width, pnm.height, limits);
  sink.begin(pnm.width, pnm.height);
  Rows rows(file, pnm, text);
  std::vector<uint8_t> row(size_t{pnm.width} * kColours);
  for (uint32_t y = 0; y < pnm.height; ++y) {
    rows.read(row.data());
    sink.row(row.data());
  }
}

}  // namespace mote::pictures
