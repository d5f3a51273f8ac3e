// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/verify.h"

#include "host/tasks/bounded_steps.h"

namespace mote::host {
Status check_hashes(const Model& model, const Hooks& hooks) {
  mote_error error = {};
  const uint32_t parts = mote_model_parts(model.get());
  for (uint32_t part = 0; part < parts; ++part) {
    if (hooks.stopped()) return cancelled();
    hooks.tell("hashes", static_cast<double>(part) / parts);
    MOTE_TRY(from_core(mote_model_check_part(model.get(), part, &error), error, model.name()));
  }
  hooks.tell("hashes", 1);
  return {};
}

Result<Verification> verify(const Model& model, const SessionChoices& choices, const Hooks& hooks) {
  hooks.tell("self test", 0);
  MOTE_TAKE(Session session, Session::begin(model, session_options(model, choices)));
  Verification verification;
  verification.isa = mote_isa_name(mote_session_isa(session.get()));
  const std::string what = sentence("{}: self test", model.name());
  mote_error error = {};
  mote_self_test& result = verification.result;
  const mote_status status = mote_self_test_begin(session.get(), &result, &error);
  if (status == MOTE_WRONG_STATE) return verification;
  MOTE_TRY(from_core(status, error, what));
  MOTE_TRY(in_steps(hooks, [&](uint32_t operations, int& done) {
    return from_core(mote_self_test_step(session.get(), &result, operations, &done, &error), error, what);
  }));
  hooks.tell("self test", 1);
  verification.has_self_test = true;
  return verification;
}

}  // namespace mote::host
