// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/char_set.h"

#include <utf8proc.h>

#include <array>

#include "converter/error.h"

namespace mote::convert {
namespace {

/// In the order of utf8proc_category_t.
constexpr std::array<std::string_view, 30> kCategories = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

using Categories = std::array<CharSet, kCategories.size()>;

/// Made at the first call.
const Categories& categories() {
  static const Categories sets = [] {
    Categories made;
    for (uint32_t c = 0; c < kCodePoints; ++c) {
      made[static_cast<size_t>(utf8proc_category(static_cast<utf8proc_int32_t>(c)))].add(c, c);
    }
    return made;
  }();
  return sets;
}

}  // namespace

CharSet& CharSet::add(uint32_t first, uint32_t last) {
  for (uint32_t c = first; c <= last && c < kCodePoints; ++c) words_[c / 64] |= uint64_t{1} << (c % 64);
  return *this;
}

CharSet CharSet::complement() const {
  CharSet result = *this;
  for (uint64_t& word : result.words_) word = ~word;
  return result;
}

CharSet CharSet::operator|(const CharSet& other) const {
  CharSet result = *this;
  for (size_t i = 0; i < words_.size(); ++i) result.words_[i] |= other.words_[i];
  return result;
}

CharSet CharSet::operator&(const CharSet& other) const {
  CharSet result = *this;
  for (size_t i = 0; i < words_.size(); ++i) result.words_[i] &= other.words_[i];
  return result;
}

CharSet space_set() {
  return CharSet()
      .add(0x09, 0x0D)
      .add(0x20, 0x20)
      .add(0x85, 0x85)
      .add(0xA0, 0xA0)
      .add(0x1680, 0x1680)
      .add(0x2000, 0x200A)
      .add(0x2028, 0x2029)
      .add(0x202F, 0x202F)
      .add(0x205F, 0x205F)
      .add(0x3000, 0x3000);
}

CharSet word_set() { return category_set("L") | category_set("M") | category_set("Nd") | category_set("Pc"); }

CharSet digit_set() { return category_set("Nd"); }

CharSet category_set(std::string_view name) {
  CharSet set;
  bool known = false;
  for (size_t i = 0; i < kCategories.size(); ++i) {
    const bool group = name.size() == 1 && kCategories[i].front() == name.front();
    if (!group && kCategories[i] != name) continue;
    known = true;
    set = set | categories()[i];
  }
  if (!known) fail("\\p{{{}}}: only general categories of Unicode are read", name);
  return set;
}

const char* unicode_version() { return utf8proc_unicode_version(); }

}  // namespace mote::convert
