// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/steps.h"

#include "tools/mote/measure/timer.h"
#include "tools/mote/signals.h"

namespace mote::cli {

namespace {

/// What has begun, to its end.
void finish(Session& session, const std::string& what) {
  mote_error error = {};
  StepSize size;
  for (int done = 0; done == 0;) {
    if (InterruptGuard::interrupted()) throw Interrupted();
    Timer timer;
    check(mote_compute_step(session.get(), size.operations(), &done, &error), error, what);
    size.took(timer.ms());
  }
}

}  // namespace

void compute(Session& session, const mote_rows& rows, const std::string& what) {
  const InterruptGuard guard;
  mote_error error = {};
  check(mote_compute_begin(session.get(), &rows, &error), error, what);
  finish(session, what);
}

void encode(Session& session, const mote_batch& batch, const std::string& what) {
  const InterruptGuard guard;
  mote_error error = {};
  check(mote_encode_begin(session.get(), &batch, &error), error, what);
  finish(session, what);
}

void encode_values(Session& session, const float* values, uint32_t rows, const std::string& what) {
  mote_batch batch{};
  batch.lengths = &rows;
  batch.count = 1;
  batch.values = values;
  encode(session, batch, what);
}

bool prefill(Session& session, const std::vector<int32_t>& ids, const std::string& what) {
  const auto count = static_cast<uint32_t>(ids.size());
  const uint32_t whole = mote_session_length(session.get(), 0) + count;
  const mote_generation generation = mote_generation_default();
  mote_error error = {};
  check(mote_generation_begin(session.get(), ids.data(), count, &generation, &error), error, what);
  StepSize size;
  while (mote_session_length(session.get(), 0) < whole) {
    if (InterruptGuard::interrupted()) return false;
    mote_event event = {};
    Timer timer;
    check(mote_session_step(session.get(), size.operations(), &event, &error), error, what);
    size.took(timer.ms());
  }
  return true;
}

}  // namespace mote::cli
