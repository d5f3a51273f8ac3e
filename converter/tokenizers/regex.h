// SPDX-License-Identifier: Apache-2.0
//
// The regular expressions of pre-tokenizers as trees: Oniguruma's syntax, as far as known tokenizers use it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "converter/tokenizers/char_set.h"

namespace mote::convert {

struct Regex;
using RegexPtr = std::shared_ptr<const Regex>;

struct Regex {
  enum class Kind {
    characters,  // one of `set`
    sequence,    // `parts` one after the other; none: the empty text
    choice,      // the first of `parts` that leads to a match
    repeat,      // parts[0], `least` to `most` times, as often as it goes
    not_ahead    // nothing, where no character of `set` follows
  };
  static constexpr uint32_t kUnlimited = UINT32_MAX;

  Kind kind;
  CharSet set;
  std::vector<RegexPtr> parts;
  uint32_t least = 0, most = 0;
};

RegexPtr make_characters(CharSet set);
RegexPtr make_sequence(std::vector<RegexPtr> parts);
RegexPtr make_choice(std::vector<RegexPtr> parts);
RegexPtr make_repeat(RegexPtr part, uint32_t least, uint32_t most);
RegexPtr make_not_ahead(CharSet set);

/// The text itself, without special characters.
RegexPtr make_literal(std::string_view utf8);

/// Throws Error, naming what is not read: of the look-arounds only (?!X) with one class X is.
RegexPtr parse_regex(std::string_view utf8);

/// The expression on texts whose characters are all in `set`, everything else being the end of the text; null
/// if it then matches nothing.
RegexPtr restrict_to(const RegexPtr& regex, const CharSet& set);

/// The code points of a text. Throws Error where it is not UTF-8.
std::vector<uint32_t> code_points(std::string_view utf8);

}  // namespace mote::convert
