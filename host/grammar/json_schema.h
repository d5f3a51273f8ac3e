// SPDX-License-Identifier: Apache-2.0
//
// JSON Schema (2020-12, and draft 7's definitions and lists of items) to rules. A keyword that cannot be kept
// is refused, with its JSON pointer and the reason.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "host/grammar/compile.h"
#include "host/grammar/source.h"

namespace mote::grammar {

using Json = nlohmann::ordered_json;

enum class Whitespace {
  none,  // {"a":1,"b":[2,3]}
  one,   // at most one blank behind , and :
  lines  // and, beside brackets and behind commas, at most one line end with up to 64 blanks
};

struct JsonOptions {
  Whitespace whitespace = Whitespace::one;
  uint32_t digits = 17;  // of a number, significant ones
};

/// Answers that are valid by the schema, written in its order of keys.
Source json_schema_source(std::string_view text, const JsonOptions& options, Allowance& allowance);

/// Any object or array.
Source any_json_source(const JsonOptions& options);

}  // namespace mote::grammar
