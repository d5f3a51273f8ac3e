// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/verify.h"

namespace mote::host {

Result<Verification> verify(const Model& model, const SessionChoices& choices) {
  MOTE_TAKE(Session session, Session::begin(model, session_options(model, choices)));
  Verification verification;
  verification.isa = mote_isa_name(mote_session_isa(session.get()));
  mote_error error = {};
  const mote_status status = mote_session_self_test(session.get(), &verification.result, &error);
  if (status == MOTE_WRONG_STATE) return verification;
  MOTE_TRY(from_core(status, error, sentence("{}: self test", model.name())));
  verification.has_self_test = true;
  return verification;
}

}  // namespace mote::host
