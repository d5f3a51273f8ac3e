// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/character_map.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/work_budget.h"
#include "schema/text_formats.h"

namespace mote::convert {

CharacterMap::CharacterMap() : table_(kCodePoints) {
  texts_.push_back({static_cast<char32_t>(kSameCharacter)});
  numbers_[texts_.front()] = 0;
}

void CharacterMap::set(uint32_t code_point, const std::u32string& text) {
  if (text.size() == 1 && text.front() == code_point) {
    table_[code_point] = 0;
    return;
  }
  charge_work(1 + 4 * text.size());
  std::u32string key = text;
  std::replace(key.begin(), key.end(), static_cast<char32_t>(code_point),
               static_cast<char32_t>(kSameCharacter));
  if (texts_.size() > UINT16_MAX) fail("a normalizer has more than {} different texts", UINT16_MAX);
  const auto [found, added] = numbers_.emplace(key, static_cast<uint16_t>(texts_.size()));
  if (added) texts_.push_back(key);
  table_[code_point] = found->second;
}

CharacterMap& CharacterMap::set(const CharSet& characters, const std::u32string& text) {
  for (const CharSet::Range& range : characters.ranges()) {
    for (uint32_t c = range.first; c <= range.last; ++c) set(c, text);
  }
  return *this;
}

CharacterMap& CharacterMap::set_each(const std::function<std::u32string(uint32_t)>& text_of) {
  charge_work(kCodePoints);
  for (uint32_t c = 0; c < kCodePoints; ++c) set(c, text_of(c));
  return *this;
}

std::u32string CharacterMap::text_of(uint32_t code_point) const {
  std::u32string text = texts_[table_[code_point]];
  std::replace(text.begin(), text.end(), static_cast<char32_t>(kSameCharacter),
               static_cast<char32_t>(code_point));
  return text;
}

CharacterMap CharacterMap::then(const CharacterMap& next) const {
  charge_work(kCodePoints);
  CharacterMap both;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    if (table_[c] == 0 && next.table_[c] == 0) continue;
    std::u32string text;
    for (const char32_t part : text_of(c)) {
      text += next.text_of(part);
      charge_work(next.texts_[next.table_[part]].size());
    }
    both.set(c, text);
  }
  return both;
}

}  // namespace mote::convert
