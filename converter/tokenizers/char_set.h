// SPDX-License-Identifier: Apache-2.0
//
// Sets of Unicode code points.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mote::convert {

inline constexpr uint32_t kCodePoints = 0x110000;

class CharSet {
 public:
  static constexpr uint32_t kWordBits = 64;

  CharSet() : words_(kCodePoints / kWordBits) {}
  static CharSet of(uint32_t code_point) { return CharSet().add(code_point, code_point); }

  /// Adds first to last, both included.
  CharSet& add(uint32_t first, uint32_t last);
  CharSet complement() const;
  CharSet operator|(const CharSet& other) const;
  CharSet operator&(const CharSet& other) const;
  bool has(uint32_t code_point) const { return (word(code_point) >> (code_point % kWordBits) & 1) != 0; }
  /// Whether the code points around this one, from a multiple of kWordBits on, belong: the lowest bit first.
  uint64_t word(uint32_t code_point) const { return words_[code_point / kWordBits]; }
  bool empty() const { return *this == CharSet(); }
  bool operator==(const CharSet& other) const { return words_ == other.words_; }

 private:
  std::vector<uint64_t> words_;
};

/// White space (\s), word characters (\w) and decimal digits (\d), as Oniguruma has them for Unicode.
CharSet space_set();
CharSet word_set();
CharSet digit_set();

/// A general category ("Lu") or a group of them ("L"). Throws Error, naming what is no category.
CharSet category_set(std::string_view name);

/// The Unicode version of the categories.
const char* unicode_version();

}  // namespace mote::convert
