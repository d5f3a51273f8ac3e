// SPDX-License-Identifier: Apache-2.0
//
// What a caller asks an answer to keep to.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/grammar/compile.h"
#include "host/grammar/json_schema.h"

namespace mote::grammar {

inline constexpr uint32_t kMostGrammarDepth = kMaxGrammarDepth, kMostGrammarStates = kMaxGrammarStates;

struct GrammarRequest {
  // One of these at most.
  std::optional<std::string> json_schema, regex, gbnf,
      table;  // a schema's text, an expression, a grammar's text, tables' bytes
  bool any_json = false;
  std::vector<std::string> choices;

  JsonOptions json;
  std::string after;  // text up to which the answer is free
  uint32_t after_within = 0;
  std::vector<std::pair<std::string, std::string>> triggers;  // texts, and schemas of what follows them
  bool heal = false;
  CompileLimits limits;

  bool asks_for_grammar() const {
    return json_schema || regex || gbnf || table || any_json || !choices.empty();
  }
  bool empty() const { return !asks_for_grammar() && triggers.empty() && !heal; }
};

/// What tables say of themselves.
struct TableSizes {
  uint32_t states, rules, masks, depth;
};
TableSizes sizes_of(const std::vector<uint8_t>& tables);

/// Returns the text of a schema, which is given as it is, as `{...}`, true or false, or by the path of its
/// file.
std::string schema_text(const std::string& given);

/// Splits TEXT=SCHEMA at the first "=".
std::pair<std::string, std::string> trigger_of(const std::string& given);

/// Throws Error for requests that contradict themselves.
void check_request(const GrammarRequest& request);

/// Returns the tables; `healed` bytes come before all else.
std::vector<uint8_t> compile_request(const GrammarRequest& request, const VocabularyTrie* vocabulary,
                                     const std::string& healed);

}  // namespace mote::grammar
