// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/session.h"

#include <algorithm>
#include <utility>

namespace mote::host {
namespace {

constexpr uint32_t kPromptChunk = 256;

}  // namespace

mote_session_options session_options(const Model& model, const SessionChoices& choices) {
  mote_session_options options = mote_session_options_default(model.get());
  options.platform = choices.platform;
  options.decode_threads = choices.decode_threads;
  options.backend = choices.backend;
  options.kv_dtype = choices.kv;
  if (choices.context != 0) options.context = choices.context;
  if (!model.encodes()) options.chunk = std::max(options.chunk, std::min(options.context, kPromptChunk));
  if (choices.chunk != 0) options.chunk = choices.chunk;
  const uint32_t logit_rows = std::min(choices.logit_rows, options.chunk);
  if (!model.encodes()) options.logit_rows = std::max(options.logit_rows, logit_rows);
  return options;
}

Result<Session> Session::begin(const Model& model, const mote_session_options& options) {
  mote_error error = {};
  mote_memory memory = {};
  MOTE_TRY(from_core(mote_session_memory(model.get(), &options, &memory, &error), error, model.name()));
  Session session;
  session.bytes_ = mote_session_bytes(model.get(), &options);
  session.arena_ = convert::arena_memory(session.bytes_);
  if (session.arena_ == nullptr) {
    return Status{MOTE_OUT_OF_MEMORY,
                  sentence("not enough memory: the session needs {}, of which {} for a context of {}",
                           human_bytes(session.bytes_), human_bytes(memory.kv_cache), options.context),
                  Remedy::less_context};
  }
  MOTE_TRY(from_core(mote_session_init(model.get(), &options, session.arena_.get(), session.bytes_,
                                       &session.session_, &error),
                     error, model.name()));
  return session;
}

Result<Speculation*> Session::speculation(const SpeculationOptions& options) {
  if (speculation_ == nullptr || !(speculation_->options() == options)) {
    MOTE_TAKE(Speculation begun, Speculation::begin(options));
    speculation_ = std::make_unique<Speculation>(std::move(begun));
  }
  return speculation_.get();
}

}  // namespace mote::host
