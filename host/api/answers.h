// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/api/inputs.h"
#include "host/api/model.h"
#include "host/base/options.h"
#include "host/tasks/generation.h"
#include "host/tasks/vision.h"

namespace mote::api {

/// The options of generating an answer.
host::GenerationOptions generation_options(Options& options, uint32_t tokens);

/// Variables of a chat template, in the order given.
using Variables = std::vector<std::pair<std::string, nlohmann::ordered_json>>;
/// Reads the option "set", an object of such variables.
Variables template_options(Options& options);

/// Encodes pictures by the model's vision tower. Fails where it was opened without one.
host::Result<std::vector<std::shared_ptr<const host::SeenPicture>>> see_pictures(
    const mote_host& model, const mote_platform& platform, Inputs pictures, const host::Hooks& hooks);

/// Returns what passes the parts of an answer on.
host::OnToken on_token_of(const mote_host_calls* calls);

/// Returns the properties of a session that answers, and what its plan took from the model.
nlohmann::json session_json(const host::Session& session, const mote_session_options& options,
                            const host::GenerationPlan& plan);
nlohmann::json answer_json(const host::Answer& answer, size_t prompt_tokens);

}  // namespace mote::api
