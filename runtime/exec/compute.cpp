// SPDX-License-Identifier: Apache-2.0
//
// Tokens in, logits out: prefill and decode.
#include "runtime/exec/compute.h"

#include "runtime/error.h"
#include "runtime/exec/executor.h"

namespace mote {

mote_status check_ids(const mote_session* session, const int32_t* ids, uint32_t n, mote_error* error) {
  const uint32_t vocab = session->model->root->vocab();
  for (uint32_t i = 0; i < n; ++i) {
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= vocab) {
      return fail(error, MOTE_INVALID_ARGUMENT, "token ", i, " is id ", ids[i], ", this model has 0 to ",
                  vocab - 1);
    }
  }
  return MOTE_OK;
}

mote_status check_room(const mote_session* session, uint32_t sequence, uint32_t n, mote_error* error) {
  const uint32_t present = session->lengths[sequence];
  const uint32_t context = session->options.context;
  if (n <= context - present) return MOTE_OK;
  return fail(error, MOTE_CONTEXT_FULL, "sequence ", sequence, " has ", present, " tokens; ", n,
              " more exceed the context of ", context);
}

uint32_t begin_chunk(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                     mote_logits logits) {
  const uint32_t rows = n < session->options.chunk ? n : session->options.chunk;
  begin_run(session);
  for (uint32_t i = 0; i < rows; ++i) {
    const bool last = i + 1 == n;
    add_row(session, sequence, ids[i], logits == MOTE_LOGITS_ALL || (logits == MOTE_LOGITS_LAST && last));
  }
  return rows;
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_status mote_prefill(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                         mote_logits logits, mote_error* error) {
  if (ids == nullptr || n == 0) return fail(error, MOTE_INVALID_ARGUMENT, "prefill takes at least one token");
  mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  if (sequence >= session->options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " of ", session->options.batch);
  }
  if (logits == MOTE_LOGITS_ALL && n > session->options.logit_rows) {
    return fail(error, MOTE_INVALID_ARGUMENT, "logits of ", n, " tokens, the session has room for ",
                session->options.logit_rows);
  }
  status = mote::check_ids(session, ids, n, error);
  if (status == MOTE_OK) status = mote::check_room(session, sequence, n, error);
  if (status != MOTE_OK) return status;
  mote::end_run(session);
  for (uint32_t done = 0; done < n;) {
    done += mote::begin_chunk(session, sequence, ids + done, n - done, logits);
    mote::continue_run(session, 0);
  }
  return MOTE_OK;
}

mote_status mote_decode(mote_session* session, const int32_t* ids, mote_error* error) {
  const uint32_t batch = session->options.batch;
  if (ids == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "decode takes an id for each sequence");
  mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  uint32_t rows = 0;
  for (uint32_t sequence = 0; sequence < batch; ++sequence) {
    if (ids[sequence] == -1) continue;
    status = mote::check_ids(session, ids + sequence, 1, error);
    if (status == MOTE_OK) status = mote::check_room(session, sequence, 1, error);
    if (status != MOTE_OK) return status;
    ++rows;
  }
  if (rows == 0) return fail(error, MOTE_INVALID_ARGUMENT, "decode was given no token");
  mote::end_run(session);
  mote::begin_run(session);
  for (uint32_t sequence = 0; sequence < batch; ++sequence) {
    if (ids[sequence] != -1) {
      mote::add_row(session, sequence, ids[sequence], true);
    } else {
      session->logit_index[session->logit_count++] = -1;
    }
  }
  mote::continue_run(session, 0);
  return MOTE_OK;
}

}  // extern "C"
