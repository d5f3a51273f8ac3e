// SPDX-License-Identifier: Apache-2.0
//
// Guesses of tokens as mote/host.h has them: their options, the model that makes some, what became of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "host/api/model.h"
#include "host/base/options.h"
#include "host/tasks/draft.h"
#include "host/tasks/speculation.h"

namespace mote::api {

/// Reads the options speculate, speculate-max and speculate-match. `draft`: the task takes a second model's
/// guesses.
host::SpeculationOptions read_speculation(Options& options, bool draft = true);

/// Returns the model that guesses for a task, null where there is none or its guesses are not wanted. Throws
/// OptionError where the options ask for such guesses and there is no such model.
host::Result<const host::Model*> draft_wanted(const mote_host& opened,
                                              const host::SpeculationOptions& speculation);

/// Begins what guesses tokens for answers of a session by the model that the host was opened with for it;
/// none where there is no such model, or the options or the session have no guesses of it. Fails where it has
/// another vocabulary.
host::Result<std::optional<host::Draft>> begin_draft(const mote_host& opened, const mote_platform& platform,
                                                     const host::SpeculationOptions& speculation,
                                                     const host::Session& session, uint32_t context);

nlohmann::json guesses_json(const host::GuessReport& report);

}  // namespace mote::api
