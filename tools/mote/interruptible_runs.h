// SPDX-License-Identifier: Apache-2.0
//
// The library's work in steps, which Ctrl-C ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/tasks/bounded_steps.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// mote_compute. Ctrl-C ends it with Interrupted. Throws convert::Error "what: ...".
void compute(Session& session, const mote_rows& rows, const std::string& what);

/// mote_encode. Ctrl-C ends it with Interrupted. Throws convert::Error "what: ...".
void encode(Session& session, const mote_batch& batch, const std::string& what);

/// Encodes one sequence of `rows` rows of floats.
void encode_values(Session& session, const float* values, uint32_t rows, const std::string& what);

/// mote_prefill of sequence 0 with the last token's logits. Ctrl-C, under the caller's InterruptGuard, ends
/// it with Interrupted: then the session holds some of the tokens.
void prefill(Session& session, const std::vector<int32_t>& ids, const std::string& what);

}  // namespace mote::cli
