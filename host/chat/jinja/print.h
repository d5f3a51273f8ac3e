// SPDX-License-Identifier: Apache-2.0
//
// Values as text.
#pragma once

#include <optional>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

/// str(value), what `{{ value }}` prints: nothing for an undefined one. Values that Python shows by their
/// address are refused by name.
std::string to_text(const Value& value);
/// repr(value), as inside a printed list.
std::string to_repr(const Value& value);
/// The shortest digits that give the number back.
std::string float_text(double value);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent = {};  // of one level; none: everything in one line
  std::string item_separator = ", ", key_separator = ": ";
};

/// As Python's json.dumps.
std::string to_json(const Value& value, const JsonStyle& style);

}  // namespace mote::convert::jinja
