// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/api/inputs.h"
#include "host/api/model.h"
#include "host/base/options.h"
#include "host/tasks/generation.h"
#include "host/tasks/vision.h"

namespace mote::api {

/// The options of generating an answer.
host::GenerationOptions generation_options(Options& options, uint32_t tokens);

/// Encodes pictures by the model's vision tower. Fails where it was opened without one.
host::Result<std::vector<std::shared_ptr<const host::SeenPicture>>> see_pictures(
    const mote_host& model, const mote_platform& platform, Inputs pictures, const host::Hooks& hooks);

/// Returns what passes the parts of an answer on.
host::OnToken on_token_of(const mote_host_calls* calls);

nlohmann::json answer_json(const host::Answer& answer, size_t prompt_tokens);

}  // namespace mote::api
