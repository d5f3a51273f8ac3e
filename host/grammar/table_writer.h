// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace mote::grammar {

/// Puts a header and sections, each from a multiple of 8 bytes on, behind each other.
class TableWriter {
 public:
  template <class Header>
  explicit TableWriter(const Header& header) {
    append(&header, sizeof header);
  }
  template <class T>
  void add(const std::vector<T>& section) {
    append(section.data(), section.size() * sizeof(T));
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  void append(const void* data, size_t bytes) {
    const size_t begin = bytes_.size();
    bytes_.resize(begin + (bytes + 7) / 8 * 8);
    if (bytes != 0) std::memcpy(bytes_.data() + begin, data, bytes);
  }

  std::vector<uint8_t> bytes_;
};

}  // namespace mote::grammar
