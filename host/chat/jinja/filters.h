// SPDX-License-Identifier: Apache-2.0
//
// Filters and tests by name.
#pragma once

#include <string>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

class Renderer;

/// Refuses names that Jinja does not know either.
void require_filter(const std::string& name, uint32_t line);
void require_test(const std::string& name, uint32_t line);

/// Throws Unsupported for filters that Jinja has and this renderer lacks.
Value call_filter(Renderer& renderer, const std::string& name, const Value& value,
                  const Arguments& arguments);
bool call_test(Renderer& renderer, const std::string& name, const Value& value, const Arguments& arguments);

// ---- By what they work on; null where the name is another's ----

using Filter = Value (*)(Renderer&, const Value&, const Arguments&);
Filter find_text_filter(const std::string& name);
Filter find_sequence_filter(const std::string& name);
Filter find_selecting_filter(const std::string& name);
Filter find_number_filter(const std::string& name);

/// Looks up `a.b.0`, as `map(attribute=...)` does; None gives the value itself.
Value follow_path(const Value& value, const Value& path, const Value* otherwise);
/// Texts in small letters, other values as they are.
Value without_case(const Value& value);

}  // namespace mote::convert::jinja
