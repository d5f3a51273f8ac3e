// SPDX-License-Identifier: Apache-2.0
//
// A text in, an encoder's vector or probabilities out.
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/session.h"

namespace mote {
namespace {

/// Encodes one text for its only row of outputs.
mote_status encode_text_alone(mote_session* session, const char* text, size_t bytes, uint32_t flags,
                              mote_error* error) {
  const mote_session_options& options = session->options;
  const uint32_t most = options.context < options.chunk ? options.context : options.chunk;
  uint32_t count = 0;
  const mote_status status = mote_tokenize(session, text, bytes, flags | MOTE_ADD_SPECIAL, session->ids, most,
                                           &count, nullptr, error);
  if (status == MOTE_TOO_SMALL) {
    return fail(error, MOTE_CONTEXT_FULL, "the text has ", count, " tokens; this session reads at most ",
                most, " at once");
  }
  if (status != MOTE_OK) return status;
  mote_batch batch{};
  batch.ids = session->ids;
  batch.lengths = &count;
  batch.count = 1;
  if (count > most) count = most;
  return mote_encode(session, &batch, error);
}

mote_status check_kind(const mote_session* session, file::OutputKind kind, const void* out, uint32_t width,
                       mote_error* error) {
  const mote_status status = check_encoder(session, error);
  if (status != MOTE_OK) return status;
  const file::Program& program = *session->model->program;
  if (program.output_kind() != kind) {
    return fail(error, MOTE_WRONG_STATE, "this model's output is ",
                file::EnumNameOutputKind(program.output_kind()), ", not ", file::EnumNameOutputKind(kind));
  }
  if (out == nullptr || width != program.output()->width()) {
    return fail(error, MOTE_INVALID_ARGUMENT, "room for ", width, " numbers, the output has ",
                program.output()->width());
  }
  return MOTE_OK;
}

}  // namespace
}  // namespace mote

extern "C" {

mote_status mote_embed(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                       uint32_t width, mote_error* error) {
  mote_status status = mote::check_kind(session, mote::file::OutputKind::embedding, out, width, error);
  if (status == MOTE_OK) status = mote::encode_text_alone(session, text, bytes, flags, error);
  if (status == MOTE_OK) memcpy(out, mote_session_output(session, 0), width * sizeof(float));
  return status;
}

mote_status mote_classify(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                          uint32_t width, mote_error* error) {
  mote_status status = mote::check_kind(session, mote::file::OutputKind::sequence_labels, out, width, error);
  if (status == MOTE_OK) status = mote::encode_text_alone(session, text, bytes, flags, error);
  if (status == MOTE_OK) status = mote_probabilities(session, 0, out, width, error);
  return status;
}

}  // extern "C"
