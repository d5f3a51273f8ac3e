// SPDX-License-Identifier: Apache-2.0
//
// A text for each character, itself for most: the normalizers that look at one character at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "converter/tokenizers/char_set.h"

namespace mote::convert {

class CharacterMap {
 public:
  /// Every character stays what it is.
  CharacterMap();

  /// Throws Error where there are too many different texts.
  void set(uint32_t code_point, const std::u32string& text);
  CharacterMap& set(const CharSet& characters, const std::u32string& text);
  CharacterMap& set_each(const std::function<std::u32string(uint32_t)>& text_of);

  std::u32string text_of(uint32_t code_point) const;

  /// First this, then `next`.
  CharacterMap then(const CharacterMap& next) const;

  /// By code point the number of its text, in which kSameCharacter stands for the character itself.
  const std::vector<uint16_t>& table() const { return table_; }
  const std::vector<std::u32string>& texts() const { return texts_; }

 private:
  std::vector<uint16_t> table_;
  std::vector<std::u32string> texts_;
  std::map<std::u32string, uint16_t> numbers_;
};

}  // namespace mote::convert
