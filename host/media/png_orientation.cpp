// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a PNG that say how the picture lies: eXIf, and texts with EXIF as hexadecimal numbers, as
// ImageMagick writes it, or with XMP. They may stand behind the picture, whose rows come before that; so they
// are looked for first.
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/error.h"
#include "host/media/orientation.h"

namespace mote::pictures {
namespace {

constexpr size_t kMostText = size_t{1} << 20, kMostTexts = size_t{64} << 20;  // Pillow's bounds, in bytes
constexpr std::string_view kRawExif = "Raw profile type exif", kXmp = "XML:com.adobe.xmp";

/// The text of zlib's data; none where they are damaged or too long.
std::optional<std::string> inflated(std::string_view data) {
  std::string text(kMostText, '\0');
  uLongf size = static_cast<uLongf>(text.size());
  const int status = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()));
  if (status != Z_OK) return std::nullopt;
  text.resize(size);
  return text;
}

/// Takes what stands before the next zero away from `data`.
std::string_view take_to_zero(std::string_view& data) {
  const size_t zero = data.find('\0');
  const std::string_view taken = data.substr(0, zero);
  data.remove_prefix(zero == std::string_view::npos ? data.size() : zero + 1);
  return taken;
}

/// The bytes of hexadecimal numbers behind three lines; empty where there is something else.
std::vector<uint8_t> bytes_of_profile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::vector<uint8_t> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const int value = digit(c);
    if (value < 0) return {};
    if (high < 0) {
      high = value;
    } else {
      bytes.push_back(static_cast<uint8_t>(high * 16 + value));
      high = -1;
    }
  }
  return bytes;
}

class PngTexts {
 public:
  void take(std::string_view type, std::string_view data) {
    if (type == "eXIf") {
      exif_ = marked_exif_orientation({reinterpret_cast<const uint8_t*>(data.data()), data.size()});
      return;
    }
    const bool is_compressed = type == "zTXt", is_international = type == "iTXt";
    if (!is_compressed && !is_international && type != "tEXt") return;
    const std::string_view key = take_to_zero(data);
    if (key != kRawExif && key != kXmp) return;
    bool deflated = is_compressed;
    if (is_international) {
      if (data.size() < 2) return;
      deflated = data[0] != 0;
      data.remove_prefix(2);
      take_to_zero(data);
      take_to_zero(data);
    } else if (is_compressed) {
      if (data.empty()) return;
      data.remove_prefix(1);
    }
    taken_ += deflated ? kMostText : std::min(data.size(), kMostText);
    if (taken_ > kMostTexts) convert::fail("the PNG's texts about how it lies are too large; save it anew");
    std::optional<std::string> text = deflated ? inflated(data) : std::string(data.substr(0, kMostText));
    if (!text) return;
    if (key == kRawExif) {
      raw_exif_ = marked_exif_orientation(bytes_of_profile(*text));
    } else {
      xmp_ = xmp_orientation(*text);
    }
  }
  Orientation result() const { return {exif_ ? *exif_ : raw_exif_, xmp_}; }

 private:
  std::optional<uint32_t> exif_;
  uint32_t raw_exif_ = 0, xmp_ = 0;
  size_t taken_ = 0;
};

}  // namespace

Orientation png_orientation(std::span<const std::byte> file) {
  constexpr size_t kSignature = 8, kAround = 12;  // the length, the type and the checksum of a chunk
  PngTexts texts;
  const std::string_view all(reinterpret_cast<const char*>(file.data()), file.size());
  for (size_t at = kSignature; at < all.size() && all.size() - at >= kAround;) {
    uint64_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | std::to_integer<uint64_t>(file[at + i]);
    const std::string_view type = all.substr(at + 4, 4);
    if (type == "IEND" || length > all.size() - at - kAround) break;
    texts.take(type, all.substr(at + 8, static_cast<size_t>(length)));
    at += kAround + static_cast<size_t>(length);
  }
  return texts.result();
}

}  // namespace mote::pictures
