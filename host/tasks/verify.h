// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// The result of replaying a file's own run; empty where the file has no such run.
struct Verification {
  bool has_self_test = false;
  mote_self_test result = {};
  const char* isa = "";  // that it ran on
};

/// Hashes all weights, part by part, and tells the share of the parts as the stage "hashes". Fails where a
/// hash differs.
Status check_hashes(const Model& model, const Hooks& hooks);
/// Replays the run that the converter stored; tells its begin and its end as the stage "self test". Fails
/// where it differs.
Result<Verification> verify(const Model& model, const SessionChoices& choices, const Hooks& hooks);

}  // namespace mote::host
