// SPDX-License-Identifier: Apache-2.0
//
// Numbers and strings as a template writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

/// Bytes of the number that a text begins with; 0: none. After a dot only whole numbers are.
size_t number_bytes(std::string_view text, bool after_dot);
Value number_value(std::string_view digits);

/// Returns the text between the quotes, with Python's escapes resolved.
std::string unescape(std::string_view text);

/// int(text, base) and float(text) of Python; none where it raises.
std::optional<Value> parse_int(std::string_view text, int64_t base);
std::optional<double> parse_float(std::string_view text);

}  // namespace mote::convert::jinja
