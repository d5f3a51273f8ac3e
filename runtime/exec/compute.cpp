// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/compute.h"

#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/encode.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/kv_state.h"

namespace mote {
namespace {

/// Checks that the call names a program and gives it rows of its kind.
mote_status check_program(const mote_session* session, const mote_rows& call, mote_error* error) {
  const uint32_t programs = session->model->root->programs()->size();
  if (call.rows == nullptr || call.count == 0 || call.count > session->options.chunk) {
    return fail(error, MOTE_INVALID_ARGUMENT, call.rows == nullptr ? 0 : call.count,
                " rows, a call computes 1 to ", session->options.chunk);
  }
  if (call.program >= programs) {
    return fail(error, MOTE_INVALID_ARGUMENT, "program ", call.program, " of ", programs);
  }
  const ProgramSteps& program = session->programs[call.program];
  const uint32_t width = program.input_width;
  const bool optional = program.takes_ids && session->model->root->vision_input() != nullptr;
  const bool given = call.values != nullptr, fits = given ? width != 0 : width == 0 || optional;
  if (!fits || (call.value_stride != 0 && call.value_stride < width)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "program ", program.file->name()->c_str(), " takes ", width,
                " floats a row", width == 0 ? ", but ids" : "; give them as values");
  }
  return MOTE_OK;
}

/// Checks that the rows can be appended, but not that there is room for them. The room that the rows ask of
/// each sequence is then in session->asked.
mote_status check_rows(const mote_session* session, const mote_row* rows, uint32_t count, mote_error* error) {
  uint32_t outputs = 0;
  memset(session->asked, 0, session->options.batch * sizeof session->asked[0]);
  for (uint32_t i = 0; i < count; ++i) {
    const mote_row& row = rows[i];
    if (row.sequence >= session->options.batch) {
      return fail(error, MOTE_INVALID_ARGUMENT, "row ", i, " is of sequence ", row.sequence, " of ",
                  session->options.batch);
    }
    if (row.token_type != 0 || row.wants_output > 1) {
      return fail(error, MOTE_INVALID_ARGUMENT, "row ", i, " has token type ", row.token_type,
                  " and wants_output ", row.wants_output, ", a decoder's are 0, and 0 or 1");
    }
    const mote_status status = check_ids(session, &row.id, 1, error);
    if (status != MOTE_OK) return status;
    ++session->asked[row.sequence];
    outputs += row.wants_output;
  }
  if (outputs > session->options.logit_rows) {
    return fail(error, MOTE_INVALID_ARGUMENT, outputs, " rows want outputs, the session has room for ",
                session->options.logit_rows);
  }
  return MOTE_OK;
}

}  // namespace

mote_status check_decoder(const mote_session* session, mote_error* error) {
  if (!session->model->encoder) return MOTE_OK;
  return fail(error, MOTE_WRONG_STATE, "this model is an encoder, which keeps no tokens: use mote_encode");
}

mote_status check_ids_alone(const mote_session* session, mote_error* error) {
  const mote_status status = check_decoder(session, error);
  // A model that sees has zeros with the tokens of texts.
  if (status != MOTE_OK || session->programs[0].input_width == 0 ||
      session->model->root->vision_input() != nullptr)
    return status;
  return fail(error, MOTE_WRONG_STATE, "this model's tokens come with ", session->programs[0].input_width,
              " floats each: use mote_compute");
}

mote_status check_encoder(const mote_session* session, mote_error* error) {
  if (session->model->encoder || session->model->sources) return MOTE_OK;
  return fail(error, MOTE_WRONG_STATE, "this model is a decoder: use mote_prefill and mote_decode");
}

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

mote_status check_room(const mote_session* session, mote_error* error, uint32_t program) {
  const mote_status sources = check_sources(session, program, session->asked, error);
  if (sources != MOTE_OK) return sources;
  for (uint32_t sequence = 0; sequence < session->options.batch; ++sequence) {
    const uint32_t present = session->lengths[sequence], context = session->options.context;
    if (session->asked[sequence] <= context - present) continue;
    return fail(error, MOTE_CONTEXT_FULL, "sequence ", sequence, " has ", present, " tokens; ",
                session->asked[sequence], " more exceed the context of ", context);
  }
  return check_pages(session, session->asked, error);
}

mote_status check_room(const mote_session* session, uint32_t sequence, uint32_t n, mote_error* error) {
  memset(session->asked, 0, session->options.batch * sizeof session->asked[0]);
  session->asked[sequence] = n;
  return check_room(session, error);
}

void begin_rows(mote_session* session, const RowSource& rows, uint32_t count) {
  begin_run(session, rows.program);
  for (uint32_t i = 0; i < count; ++i) {
    const mote_row row = rows[i];
    const float* values = rows.values == nullptr ? nullptr : rows.values + i * rows.stride;
    add_row(session, row.sequence, row.id, row.wants_output != 0, values);
  }
  hold_pages(session);
}

uint32_t begin_chunk(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                     mote_logits logits) {
  const uint32_t count = n < session->options.chunk ? n : session->options.chunk;
  begin_rows(session, {nullptr, ids, sequence, n, logits, 0, nullptr, 0}, count);
  return count;
}

mote_status begin_decode(mote_session* session, const int32_t* ids, mote_error* error) {
  const uint32_t batch = session->options.batch;
  if (ids == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "decode takes an id for each sequence");
  mote_status status = check_ids_alone(session, error);
  if (status != MOTE_OK) return status;
  uint32_t rows = 0;
  for (uint32_t sequence = 0; sequence < batch; ++sequence) {
    session->asked[sequence] = ids[sequence] == -1 ? 0 : 1;
    if (ids[sequence] == -1) continue;
    status = check_ids(session, ids + sequence, 1, error);
    if (status != MOTE_OK) return status;
    ++rows;
  }
  if (rows == 0) return fail(error, MOTE_INVALID_ARGUMENT, "decode was given no token");
  status = check_room(session, error);
  if (status != MOTE_OK) return status;
  end_run(session);
  begin_run(session);
  for (uint32_t sequence = 0; sequence < batch; ++sequence) {
    if (ids[sequence] != -1) {
      add_row(session, sequence, ids[sequence], true);
    } else {
      add_no_row(session);
    }
  }
  hold_pages(session);
  return MOTE_OK;
}

}  // namespace mote

using mote::fail;

extern "C" {

uint32_t mote_model_programs(const mote_model* model) { return model->root->programs()->size(); }

void mote_model_get_program(const mote_model* model, uint32_t program, mote_program_info* info) {
  *info = {};
  if (program >= mote_model_programs(model)) return;
  const mote::file::Program& of = *model->root->programs()->Get(program);
  info->name = of.name()->c_str();
  info->input_width = mote::input_width(of);
  info->output_width = of.output()->width();
  info->whole = mote::is_whole(of) ? 1 : 0;
  info->context = mote::context_of(*model->root, of);
  info->ids = mote::takes_ids(of) ? 1 : 0;
}

mote_status mote_compute_begin(mote_session* session, const mote_rows* rows, mote_error* error) {
  if (rows == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  mote_status status = mote::check_program(session, *rows, error);
  if (status != MOTE_OK) return status;
  mote::RowSource source{};
  source.rows = rows->rows;
  source.program = rows->program;
  source.values = rows->values;
  source.stride = rows->value_stride;
  if (source.stride == 0) source.stride = session->programs[rows->program].input_width;
  if (mote::is_whole(*session->programs[rows->program].file)) {
    return mote::begin_encoding(session, source, rows->count, error);
  }
  status = mote::check_rows(session, rows->rows, rows->count, error);
  if (status == MOTE_OK) status = mote::check_room(session, error, rows->program);
  if (status != MOTE_OK) return status;
  mote::end_run(session);
  mote::begin_rows(session, source, rows->count);
  return MOTE_OK;
}

mote_status mote_compute_step(mote_session* session, uint32_t max_ops, int* done, mote_error* error) {
  if (done == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (!session->run.active || session->generation.active) {
    return fail(error, MOTE_WRONG_STATE, "no computation is in progress");
  }
  *done = mote::continue_run(session, max_ops) ? 1 : 0;
  return MOTE_OK;
}

mote_status mote_compute(mote_session* session, const mote_rows* rows, mote_error* error) {
  int done = 0;
  const mote_status status = mote_compute_begin(session, rows, error);
  return status != MOTE_OK ? status : mote_compute_step(session, 0, &done, error);
}

mote_status mote_prefill(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                         mote_logits logits, mote_error* error) {
  if (ids == nullptr || n == 0) return fail(error, MOTE_INVALID_ARGUMENT, "prefill takes at least one token");
  mote_status status = mote::check_ids_alone(session, error);
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
  const mote_status status = mote::begin_decode(session, ids, error);
  if (status == MOTE_OK) mote::continue_run(session, 0);
  return status;
}

}  // extern "C"
