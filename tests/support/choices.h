// SPDX-License-Identifier: Apache-2.0
//
// What a fuzzed input chooses besides its content.
#pragma once

#include <cstddef>
#include <cstdint>

namespace test {

/// Takes a byte or more for each choice; where there are no more, every choice is 0.
class Choices {
 public:
  Choices() = default;
  Choices(const uint8_t* bytes, size_t count) : bytes_(bytes), left_(count) {}

  bool left() const { return left_ != 0; }

  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *bytes_++;
  }

  uint32_t word() {
    uint32_t word = byte();
    for (uint32_t shift = 8; shift < 32; shift += 8) word |= uint32_t{byte()} << shift;
    return word;
  }

  /// 0 to limit - 1.
  uint32_t below(uint32_t limit) {
    if (limit <= 1) return 0;
    return (limit <= 256 ? byte() : byte() | uint32_t{byte()} << 8) % limit;
  }

  template <class T, size_t N>
  T one_of(const T (&values)[N]) {
    return values[below(N)];
  }

 private:
  const uint8_t* bytes_ = nullptr;
  size_t left_ = 0;
};

}  // namespace test
