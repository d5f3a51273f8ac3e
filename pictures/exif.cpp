// SPDX-License-Identifier: Apache-2.0
#include "pictures/rows.h"

namespace mote::pictures {
namespace {

constexpr uint32_t kOrientation = 0x0112, kShort = 3, kUpright = 1;
constexpr size_t kEntryBytes = 12;

}  // namespace

bool exif_turns(const uint8_t* data, size_t bytes) {
  if (bytes < 8) return false;
  const bool little = data[0] == 'I';
  const auto number = [&](size_t at, size_t size) {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | data[at + (little ? size - 1 - i : i)];
    return value;
  };
  const size_t first = number(4, 4);
  if (first > bytes - 2) return false;
  const size_t count = number(first, 2);
  for (size_t i = 0, at = first + 2; i < count && at + kEntryBytes <= bytes; ++i, at += kEntryBytes) {
    if (number(at, 2) != kOrientation || number(at + 2, 2) != kShort) continue;
    const uint32_t value = number(at + 8, 2);
    return value > kUpright && value <= 8;
  }
  return false;
}

}  // namespace mote::pictures
