// SPDX-License-Identifier: Apache-2.0
//
// A text in, an encoder's vector or probabilities out.
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/encode.h"
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

/// Puts a prompt before a text, in the session's room for both; `text` and `bytes` become those of the two.
mote_status put_prompt(mote_session* session, const char* prompt, const char** text, size_t* bytes,
                       mote_error* error) {
  const size_t prompt_bytes = strlen(prompt);
  if (prompt_bytes == 0 || session->prompted.bytes == 0)
    return MOTE_OK;  // without room there is no tokenizer
  if (*bytes > session->prompted.bytes - prompt_bytes) {
    return fail(error, MOTE_TEXT_TOO_LONG, "a text of ", uint64_t{*bytes}, " bytes behind a prompt of ",
                uint64_t{prompt_bytes}, "; the session's text_bytes are ", session->options.text_bytes);
  }
  char* const room = session->prompted.text;
  memcpy(room, prompt, prompt_bytes);
  if (*bytes != 0) memcpy(room + prompt_bytes, *text, *bytes);
  *text = room;
  *bytes += prompt_bytes;
  return MOTE_OK;
}

}  // namespace

mote_status check_output_kind(const mote_session* session, file::OutputKind kind, const void* out,
                              uint32_t width, mote_error* error) {
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

}  // namespace mote

extern "C" {

mote_status mote_embed(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                       uint32_t width, mote_error* error) {
  const mote_status status =
      mote::check_output_kind(session, mote::file::OutputKind::embedding, out, width, error);
  if (status != MOTE_OK) return status;
  return mote_embed_as(session, mote_model_default_prompt(session->model), text, bytes, flags, out, width,
                       error);
}

mote_status mote_embed_as(mote_session* session, int32_t prompt, const char* text, size_t bytes,
                          uint32_t flags, float* out, uint32_t width, mote_error* error) {
  mote_status status = mote::check_output_kind(session, mote::file::OutputKind::embedding, out, width, error);
  if (status != MOTE_OK) return status;
  if (text == nullptr && bytes != 0)
    return mote::fail(error, MOTE_INVALID_ARGUMENT, "mote_embed: null pointer");
  if (prompt != -1) {
    const char* before =
        prompt < 0 ? nullptr : mote_model_prompt(session->model, static_cast<uint32_t>(prompt), nullptr);
    if (before == nullptr)
      return mote::fail(error, MOTE_INVALID_ARGUMENT, "the model has no prompt ", prompt);
    status = mote::put_prompt(session, before, &text, &bytes, error);
  }
  if (status == MOTE_OK) status = mote::encode_text_alone(session, text, bytes, flags, error);
  if (status == MOTE_OK) memcpy(out, mote_session_output(session, 0), width * sizeof(float));
  return status;
}

mote_status mote_classify(mote_session* session, const char* text, size_t bytes, uint32_t flags, float* out,
                          uint32_t width, mote_error* error) {
  mote_status status =
      mote::check_output_kind(session, mote::file::OutputKind::sequence_labels, out, width, error);
  if (status == MOTE_OK) status = mote::encode_text_alone(session, text, bytes, flags, error);
  if (status == MOTE_OK) status = mote_probabilities(session, 0, out, width, error);
  return status;
}

}  // extern "C"
