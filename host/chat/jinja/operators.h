// SPDX-License-Identifier: Apache-2.0
//
// Python's operators. An operation that Python refuses is a Refusal; integers beyond 64 bits are Unsupported.
#pragma once

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

bool equal(const Value& a, const Value& b);
/// `<`; refuses values without an order.
bool less(const Value& a, const Value& b);
/// `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `not in`.
bool compare(const std::string& op, const Value& a, const Value& b);
bool contains(const Value& container, const Value& item);

/// `+`, `-`, `*`, `/`, `//`, `%`, `**`.
Value arithmetic(const std::string& op, const Value& a, const Value& b);
/// `-`, `+`.
Value sign(const std::string& op, const Value& value);

/// `value[begin:end:step]`; null bounds are None.
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);

/// HTML's five special characters replaced.
std::string escape(std::string_view text);
/// Returns the value that `escape` makes of any value: markup stays.
Value escaped(const Value& value);

}  // namespace mote::convert::jinja
