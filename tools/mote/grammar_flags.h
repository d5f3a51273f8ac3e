// SPDX-License-Identifier: Apache-2.0
//
// The options that keep answers to a grammar, which run, chat, eval and grammar share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/mote/arguments.h"

namespace mote::cli {

struct GrammarFlags {
  std::optional<std::string> json_schema, regex, gbnf, table;
  std::vector<std::string> choices, triggers;
  bool any_json = false, heal = false;
  std::string whitespace = "one", after;
  std::optional<uint32_t> digits, after_within, depth, states;
  std::optional<float> seconds;

  bool has_source() const { return json_schema || regex || gbnf || any_json || !choices.empty(); }
};

/// `answers`: the command generates, so that text may stand before what keeps to the grammar.
void add_grammar_flags(Command command, GrammarFlags& flags, bool answers);

/// Adds the flags that are given to options of mote/host.h.
void add_grammar_options(const GrammarFlags& flags, nlohmann::ordered_json& options);

/// Compiles the grammar without a vocabulary: a source that is refused is wrong usage.
void check_grammar(const GrammarFlags& flags);

}  // namespace mote::cli
