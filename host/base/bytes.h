// SPDX-License-Identifier: Apache-2.0
//
// The functions by which every reader takes numbers and names out of untrusted bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mote::convert {

static_assert(std::endian::native == std::endian::little,
              "the readers take little-endian numbers as they lie");

/// A number at any alignment; the caller has checked that sizeof(T) bytes are there.
template <class T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// The product of a shape's dimensions (1 for none), or nothing if it does not fit 64 bits.
inline std::optional<uint64_t> element_count(std::span<const uint64_t> shape) {
  uint64_t count = 1;
  for (const uint64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return count;
}

/// A name from a file as a message shows it: one line, no control characters, not longer than 96 bytes.
inline std::string shown(std::string_view name) {
  std::string text(name.substr(0, 96));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return name.size() > text.size() ? text + "..." : text;
}

}  // namespace mote::convert
