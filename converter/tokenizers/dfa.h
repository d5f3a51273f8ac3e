// SPDX-License-Identifier: Apache-2.0
//
// Regular expressions to tables: code points to classes, expressions to a DFA over these with the meaning of
// a backtracking matcher (leftmost-first: the first alternative that matches wins, not the longest).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "converter/tokenizers/normalizer_spec.h"
#include "converter/tokenizers/regex.h"
#include "schema/text_formats.h"

namespace mote::convert {

/// Code points that no expression tells apart share a class.
class CharClasses {
 public:
  /// Throws Error where it takes more than 256 classes.
  CharClasses(const std::vector<RegexPtr>& expressions, const Cuts& cuts);

  uint32_t count() const { return static_cast<uint32_t>(representatives_.size()); }
  uint32_t representative(uint32_t character_class) const { return representatives_[character_class]; }
  std::vector<uint8_t> flags() const;  // ClassFlag, [count]

  /// The two-stage table of schema/text_formats.h.
  std::vector<uint16_t> blocks;
  std::vector<uint8_t> table;
  /// The classes of the table as ranges.
  std::vector<uint32_t> ranges;

 private:
  std::vector<uint32_t> representatives_;
  Cuts cuts_;
};

struct Dfa {
  uint32_t states;
  std::vector<uint16_t> transitions;  // [states, classes + 1]
};

/// Throws Error where the expression matches the empty text or takes too many states.
Dfa build_dfa(const RegexPtr& regex, const CharClasses& classes);

}  // namespace mote::convert
