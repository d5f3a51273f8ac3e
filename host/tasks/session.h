// SPDX-License-Identifier: Apache-2.0
//
// Sessions in memory of their own.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "host/base/arena_memory.h"
#include "host/tasks/model.h"
#include "host/tasks/speculation.h"
#include "host/tasks/status.h"

namespace mote::host {

/// The choices of a caller for a session; 0 and MOTE_KV_AUTO leave the choice to the task and the runtime.
struct SessionChoices {
  mote_platform platform;  // its `user` must outlive the sessions
  uint32_t decode_threads = 0;
  uint32_t context = 0;
  uint32_t chunk = 0;
  mote_kv_dtype kv = MOTE_KV_AUTO;
  const mote_backend* backend = nullptr;
  uint32_t logit_rows = 1;  // of a decoder: 1 more than guesses with a token
};

/// Returns the options of a session with these choices. A decoder's chunk is at least 256 tokens of a prompt,
/// for all of which the weights are read from memory once.
mote_session_options session_options(const Model& model, const SessionChoices& choices);

class Session {
 public:
  Session() = default;
  /// Allocates and begins. The model must outlive the session.
  static Result<Session> begin(const Model& model, const mote_session_options& options);

  mote_session* get() const { return session_; }
  /// Returns the guesses of the session's generations, which go on as long as the options stay.
  Result<Speculation*> speculation(const SpeculationOptions& options);
  size_t arena_bytes() const { return bytes_; }
  std::span<const std::byte> arena() const { return {static_cast<const std::byte*>(arena_.get()), bytes_}; }

 private:
  convert::ArenaMemory arena_;
  size_t bytes_ = 0;
  mote_session* session_ = nullptr;
  std::unique_ptr<Speculation> speculation_;
};

}  // namespace mote::host
