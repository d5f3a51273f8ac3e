// SPDX-License-Identifier: Apache-2.0
#include "host/media/orientation.h"

#include <algorithm>
#include <array>

namespace mote::pictures {
namespace {

constexpr uint32_t kOrientation = 0x0112;
constexpr size_t kEntryBytes = 12;

/// Bytes of a whole number by its type in TIFF, 0 for other types.
size_t bytes_of_type(uint32_t type) {
  constexpr uint32_t kShort = 3, kLong = 4, kSignedShort = 8, kSignedLong = 9;
  if (type == kShort || type == kSignedShort) return 2;
  return type == kLong || type == kSignedLong ? 4 : 0;
}

}  // namespace

Turn Orientation::turn() const {
  // For each orientation from 1 on: says whether rows are columns, and whether these go from right to left
  // and from the bottom up.
  constexpr std::array<Turn, 8> kTurns = {{{false, false, false},
                                           {false, true, false},
                                           {false, true, true},
                                           {false, false, true},
                                           {true, false, false},
                                           {true, true, false},
                                           {true, true, true},
                                           {true, false, true}}};
  const uint32_t number = exif != 0 ? exif : xmp;
  return number >= 1 && number <= kTurns.size() ? kTurns[number - 1] : Turn{};
}

uint32_t exif_orientation(std::span<const uint8_t> tiff) {
  constexpr size_t kHeader = 8;
  if (tiff.size() < kHeader) return 0;
  const bool little = tiff[0] == 'I' && tiff[1] == 'I';
  if (!little && !(tiff[0] == 'M' && tiff[1] == 'M')) return 0;
  const auto number = [&](size_t at, size_t size) {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | tiff[at + (little ? size - 1 - i : i)];
    return value;
  };
  constexpr uint32_t kMagic = 42;
  const size_t first = number(4, 4);
  if (number(2, 2) != kMagic || first > tiff.size() - 2) return 0;
  const size_t count = number(first, 2);
  uint32_t found = 0;  // the last counts
  for (size_t i = 0, at = first + 2; i < count && at + kEntryBytes <= tiff.size(); ++i, at += kEntryBytes) {
    if (number(at, 2) != kOrientation) continue;
    const size_t size = bytes_of_type(number(at + 2, 2));
    const uint64_t bytes = uint64_t{number(at + 4, 4)} * size;
    if (size == 0) found = 1;  // a value of another type is no orientation, and yet is there
    if (bytes == 0) continue;
    const size_t place = bytes <= 4 ? at + 8 : number(at + 8, 4);
    if (place > tiff.size() || bytes > tiff.size() - place) continue;
    // Whatever is none of the eight is another way of upright.
    const uint32_t value = number(place, size);
    found = value == 0 ? 1 : value;
  }
  return found;
}

uint32_t marked_exif_orientation(std::span<const uint8_t> exif) {
  constexpr uint8_t kExif[] = {'E', 'x', 'i', 'f', 0, 0};
  const bool is_marked =
      exif.size() >= sizeof kExif && std::equal(std::begin(kExif), std::end(kExif), exif.begin());
  return exif_orientation(is_marked ? exif.subspan(sizeof kExif) : exif);
}

uint32_t xmp_orientation(std::string_view text) {
  constexpr std::string_view kName = "tiff:Orientation";
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    if (!rest.starts_with("=\"") && !rest.starts_with(">")) continue;
    rest.remove_prefix(rest.front() == '>' ? 1 : 2);
    if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9')
      return rest.front() == '0' ? 1 : static_cast<uint32_t>(rest.front() - '0');
  }
  return 0;
}

}  // namespace mote::pictures
