// SPDX-License-Identifier: Apache-2.0
//
// The options that keep answers to a grammar.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/api/model.h"
#include "host/base/options.h"
#include "host/grammar/request.h"
#include "host/tasks/constraint.h"

namespace mote::api {

/// Reads them; nothing is compiled yet.
grammar::GrammarRequest grammar_options(Options& options);

/// Compiles what is asked for, for the model's vocabulary. `healed`: bytes that an answer begins with.
host::Result<host::GrammarPlan> plan_grammar(mote_host& model, const grammar::GrammarRequest& request,
                                             const std::string& healed = "");

/// Takes the last token of a prompt back where its text could be the begin of a longer token; returns its
/// bytes, "": it stays.
host::Result<std::string> heal(mote_host& model, std::vector<int32_t>& prompt);

}  // namespace mote::api
