// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/base/error.h"
#include "host/grammar/json_schema.h"
#include "tests/grammar/grammar_case.h"

namespace test {

inline mote::grammar::Source schema_source(
    const std::string& text, mote::grammar::Whitespace whitespace = mote::grammar::Whitespace::one) {
  mote::grammar::Allowance allowance({});
  mote::grammar::JsonOptions options;
  options.whitespace = whitespace;
  return mote::grammar::json_schema_source(text, options, allowance);
}

/// Returns the sentence with which the schema is refused; "": it is not.
inline std::string refusal(const std::string& schema) {
  try {
    mote::grammar::compile(schema_source(schema), nullptr);
  } catch (const mote::convert::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace test
