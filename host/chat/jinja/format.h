// SPDX-License-Identifier: Apache-2.0
//
// Values set into a text.
#pragma once

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

/// text % values: a tuple gives one for each place, a dictionary by name, anything else is the only one.
Value format_percent(const Text& text, const Value& values);

/// text.format(...): {}, {0} and {name}. Formats after a colon, conversions and members are refused by name.
Value format_braces(const Text& text, const Arguments& arguments);

}  // namespace mote::convert::jinja
