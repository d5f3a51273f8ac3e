// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/bounded_steps.h"

namespace mote::host {
namespace {

/// Computes what has begun to its end.
Status finish(Session& session, const Hooks& hooks, std::string_view what) {
  return in_steps(hooks, [&](uint32_t operations, int& done) {
    mote_error error = {};
    return from_core(mote_compute_step(session.get(), operations, &done, &error), error, what);
  });
}

}  // namespace

Status compute(Session& session, const mote_rows& rows, const Hooks& hooks, std::string_view what) {
  mote_error error = {};
  MOTE_TRY(from_core(mote_compute_begin(session.get(), &rows, &error), error, what));
  return finish(session, hooks, what);
}

Status encode(Session& session, const mote_batch& batch, const Hooks& hooks, std::string_view what) {
  mote_error error = {};
  MOTE_TRY(from_core(mote_encode_begin(session.get(), &batch, &error), error, what));
  return finish(session, hooks, what);
}

Status encode_values(Session& session, const float* values, uint32_t rows, const Hooks& hooks,
                     std::string_view what) {
  mote_batch batch{};
  batch.lengths = &rows;
  batch.count = 1;
  batch.values = values;
  return encode(session, batch, hooks, what);
}

Status prefill(Session& session, std::span<const int32_t> ids, const Hooks& hooks, std::string_view what) {
  const auto count = static_cast<uint32_t>(ids.size());
  const uint32_t whole = mote_session_length(session.get(), 0) + count;
  const mote_generation generation = mote_generation_default();
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_generation_begin(session.get(), ids.data(), count, &generation, &error), error, what));
  return in_steps(hooks, [&](uint32_t operations, int& done) {
    mote_event event = {};
    MOTE_TRY(from_core(mote_session_step(session.get(), operations, &event, &error), error, what));
    done = mote_session_length(session.get(), 0) == whole ? 1 : 0;
    return Status();
  });
}

}  // namespace mote::host
