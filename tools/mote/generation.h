// SPDX-License-Identifier: Apache-2.0
//
// The options of generating an answer, which run and chat share.
#pragma once

#include <string>

#include "host/tasks/generation.h"
#include "tools/mote/arguments.h"

namespace mote::cli {

/// -n, --greedy, --temp and so on, --stop, --ignore-stop. `tokens` is the default of -n; `samples`: the
/// command samples without --temp too.
void add_generation_flags(Command command, host::GenerationOptions& options, uint32_t tokens, bool samples);

/// --context-full: stop, or slide, which forgets `forgotten`. `what` holds the default.
void add_context_full_flag(Command command, std::string& what, const std::string& forgotten);

}  // namespace mote::cli
