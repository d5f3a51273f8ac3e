// SPDX-License-Identifier: Apache-2.0
//
// Sets of Unicode code points.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string_view>

namespace mote::convert {

inline constexpr uint32_t kCodePoints = 0x110000;

/// A value; copies share their bits until one is changed.
class CharSet {
 public:
  CharSet() : bits_(std::make_shared<Bits>()) {}
  static CharSet of(uint32_t code_point) { return CharSet().add(code_point, code_point); }
  static CharSet all() { return CharSet().complement(); }

  /// Adds first to last, both included.
  CharSet& add(uint32_t first, uint32_t last);
  CharSet complement() const;
  CharSet operator|(const CharSet& other) const;
  CharSet operator&(const CharSet& other) const;
  CharSet operator-(const CharSet& other) const { return *this & other.complement(); }
  bool has(uint32_t code_point) const { return bits_->test(code_point); }
  bool empty() const { return bits_->none(); }
  bool operator==(const CharSet& other) const { return *bits_ == *other.bits_; }

 private:
  using Bits = std::bitset<kCodePoints>;
  explicit CharSet(std::shared_ptr<Bits> bits) : bits_(std::move(bits)) {}

  std::shared_ptr<Bits> bits_;
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
