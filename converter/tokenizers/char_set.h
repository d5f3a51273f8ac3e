// SPDX-License-Identifier: Apache-2.0
//
// Sets of Unicode code points.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mote::convert {

inline constexpr uint32_t kCodePoints = 0x110000;

class CharSet {
 public:
  struct Range {
    uint32_t first, last;  // both included
    bool operator==(const Range&) const = default;
    auto operator<=>(const Range&) const = default;
  };

  static CharSet of(uint32_t code_point) { return CharSet().add(code_point, code_point); }
  /// Those of all ranges, which may be in any order and meet.
  static CharSet of_ranges(std::vector<Range> ranges);

  /// Adds first to last, both included.
  CharSet& add(uint32_t first, uint32_t last);
  CharSet complement() const;
  CharSet operator|(const CharSet& other) const;
  CharSet operator&(const CharSet& other) const;
  bool has(uint32_t code_point) const;
  bool empty() const { return ranges_.empty(); }
  /// In order, with code points between them that do not belong.
  const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const CharSet& other) const = default;
  auto operator<=>(const CharSet& other) const = default;

 private:
  std::vector<Range> ranges_;
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
