// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"
#include "runtime/exec/session.h"
#include "runtime/text/decode.h"
#include "runtime/text/encode.h"

namespace {

using mote::fail;

mote_status no_tokenizer(mote_error* error) {
  return fail(error, MOTE_WRONG_STATE, "the file has no tokenizer: convert it from a model that has one");
}

}  // namespace

extern "C" {

mote_status mote_tokenize(mote_session* session, const char* text, size_t bytes, uint32_t flags, int32_t* ids,
                          uint32_t capacity, uint32_t* count, mote_span* offsets, mote_error* error) {
  return mote_tokenize_pair(session, text, bytes, nullptr, 0, flags, ids, capacity, count, offsets, nullptr,
                            error);
}

mote_status mote_tokenize_pair(mote_session* session, const char* first, size_t first_bytes,
                               const char* second, size_t second_bytes, uint32_t flags, int32_t* ids,
                               uint32_t capacity, uint32_t* count, mote_span* offsets, mote_token_kind* kinds,
                               mote_error* error) {
  if (session == nullptr || count == nullptr || (first == nullptr && first_bytes != 0) ||
      (second == nullptr && second_bytes != 0) || (ids == nullptr && capacity != 0)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_tokenize: null pointer");
  }
  constexpr uint32_t kFlags = MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL | MOTE_TRUNCATE | MOTE_CUT_LONGER;
  if (first_bytes >= UINT32_MAX || second_bytes >= UINT32_MAX || (flags & ~kFlags) != 0) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_tokenize: text of 4 GiB or unknown flags");
  }
  const mote::Tokenizer& tokenizer = session->model->tokenizer;
  if (tokenizer.tokens == 0) return no_tokenizer(error);
  if (session->text.slots == 0) {
    return fail(error, MOTE_WRONG_STATE, "the session was made with text_bytes 0: it takes ids only");
  }
  if (second != nullptr && tokenizer.no_pairs && (flags & MOTE_ADD_SPECIAL) != 0) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "how this model puts two texts together is not known");
  }
  const mote::Given texts[] = {
      {reinterpret_cast<const uint8_t*>(first), static_cast<uint32_t>(first_bytes)},
      {reinterpret_cast<const uint8_t*>(second), static_cast<uint32_t>(second_bytes)}};
  mote::TokenSink sink(ids, offsets, kinds, capacity);
  const mote_status status = mote::encode_text(tokenizer, session->text, texts[0],
                                               second == nullptr ? nullptr : &texts[1], flags, &sink, error);
  *count = sink.count;
  return status;
}

size_t mote_detokenizer_room(const mote_model* model) {
  return model->tokenizer.tokens == 0 ? 0 : mote::decode_room(model->tokenizer);
}

mote_status mote_detokenizer_start(const mote_model* model, uint32_t flags, mote_detokenizer* state,
                                   mote_error* error) {
  if (model == nullptr || state == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_detokenizer_start: null pointer");
  }
  if ((flags & ~static_cast<uint32_t>(MOTE_SKIP_SPECIAL | MOTE_KEEP_LEADING_SPACE)) != 0) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_detokenizer_start: unknown flags ", flags);
  }
  if (model->tokenizer.tokens == 0) return no_tokenizer(error);
  *state = {};
  state->flags = flags;
  if ((flags & MOTE_KEEP_LEADING_SPACE) != 0) {
    state->started = 1;
  } else {
    state->strip = static_cast<uint8_t>(model->tokenizer.strip_spaces);
  }
  return MOTE_OK;
}

mote_status mote_detokenizer_next(const mote_model* model, mote_detokenizer* state, int32_t id, char* out,
                                  size_t out_bytes, size_t* written, mote_error* error) {
  if (model == nullptr || state == nullptr || out == nullptr || written == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_detokenizer_next: null pointer");
  }
  *written = 0;
  const mote::Tokenizer& tokenizer = model->tokenizer;
  if (tokenizer.tokens == 0) return no_tokenizer(error);
  if (id < 0 || static_cast<uint32_t>(id) >= model->root->vocab()) {
    return fail(error, MOTE_INVALID_ARGUMENT, "id ", id, " of a vocabulary of ", model->root->vocab());
  }
  if (out_bytes < mote::decode_room(tokenizer)) {
    return fail(error, MOTE_TOO_SMALL, "mote_detokenizer_next writes into ", mote::decode_room(tokenizer),
                " bytes, there are ", uint64_t{out_bytes});
  }
  // Ids past the tokenizer's fill a padded vocabulary up and stand for nothing.
  if (tokenizer.has_token(id)) {
    *written =
        mote::decode_next(tokenizer, state, static_cast<uint32_t>(id), reinterpret_cast<uint8_t*>(out));
  }
  return MOTE_OK;
}

mote_status mote_detokenizer_finish(const mote_model* model, mote_detokenizer* state, char* out,
                                    size_t out_bytes, size_t* written, mote_error* error) {
  if (model == nullptr || state == nullptr || out == nullptr || written == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_detokenizer_finish: null pointer");
  }
  *written = 0;
  if (model->tokenizer.tokens == 0) return no_tokenizer(error);
  if (out_bytes < mote::decode_room(model->tokenizer)) {
    return fail(error, MOTE_TOO_SMALL, "mote_detokenizer_finish writes into ",
                mote::decode_room(model->tokenizer), " bytes, there are ", uint64_t{out_bytes});
  }
  *written = mote::decode_finish(model->tokenizer, state, reinterpret_cast<uint8_t*>(out));
  return MOTE_OK;
}

int mote_token_is_special(const mote_model* model, int32_t id) {
  const mote::Tokenizer& tokenizer = model->tokenizer;
  return tokenizer.has_token(id) &&
         (tokenizer.token_flags[static_cast<uint32_t>(id)] & mote::kTokenSpecial) != 0;
}

const char* mote_token_text(const mote_model* model, int32_t id, size_t* bytes) {
  *bytes = 0;
  if (!model->tokenizer.has_token(id)) return nullptr;
  const mote::Table<uint8_t> text = model->tokenizer.text_of(static_cast<uint32_t>(id));
  *bytes = text.count;
  return reinterpret_cast<const char*>(model->tokenizer.token_text.data) +
         model->tokenizer.token_offsets[static_cast<uint32_t>(id)];
}

}  // extern "C"
