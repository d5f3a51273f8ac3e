// SPDX-License-Identifier: Apache-2.0
//
// Outputs of a session's last run, of a model that encodes.
#pragma once

#include <cstdint>
#include <vector>

#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Returns a row of outputs.
std::vector<float> output_row(const Model& model, const Session& session, uint32_t index);
/// Returns the probabilities of the labels of a row of outputs.
Result<std::vector<float>> output_probabilities(const Model& model, const Session& session, uint32_t index);

}  // namespace mote::host
