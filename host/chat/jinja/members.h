// SPDX-License-Identifier: Apache-2.0
//
// Attributes, items and methods of values.
#pragma once

#include <string>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

/// `value.name`: Python's attribute, else the item of that name, else undefined.
Value get_attribute(const Value& value, const std::string& name);
/// `value[key]`: the item, else Python's attribute of that name, else undefined.
Value get_item(const Value& value, const Value& key);
/// Python's attribute alone, as the filter attr; undefined where there is none.
Value get_own_attribute(const Value& value, const std::string& name);

Value call_method(const Function& method, const Arguments& arguments);
Value call_text_method(const Text& text, const std::string& name, const Arguments& arguments);
/// Those that ask something of a text or find a place in it; false where the name is another's.
bool call_text_question(const Text& text, const std::string& name, const Arguments& arguments, Value* result);

// ---- What filters share with methods ----

std::string replace_all(const std::string& text, const std::string& old, const std::string& now,
                        int64_t most);
/// Lines without their ends, or with them.
std::vector<std::string> split_lines(const std::string& text, bool keep_ends);
std::string pad(const std::string& text, int64_t width, const std::string& fill, bool left, bool right);

}  // namespace mote::convert::jinja
