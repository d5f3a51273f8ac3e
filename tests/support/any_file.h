// SPDX-License-Identifier: Apache-2.0
//
// Bytes that may be anything, used as a model: any result is right but a crash.
#pragma once

#include <array>

#include "tests/support/any_calls.h"
#include "tests/support/any_session.h"

namespace test {

/// To ids and back.
inline void use_tokenizer(const mote_model* model, mote_session* session) {
  const char text[] = "hello <mask> the 12 stop.\xE2\x82 <s>";
  std::array<int32_t, 64> ids;
  uint32_t count = 0;
  mote_error error{};
  mote_detokenizer state;
  if (mote_tokenize(session, text, sizeof text, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL, ids.data(), 64, &count,
                    nullptr, &error) != MOTE_OK ||
      mote_detokenizer_start(model, 0, &state, &error) != MOTE_OK) {
    return;
  }
  const AlignedBytes out(mote_detokenizer_room(model));
  auto* const part = reinterpret_cast<char*>(out.data());
  size_t written = 0;
  for (uint32_t i = 0; i < count; ++i) {
    must(mote_detokenizer_next(model, &state, ids[i], part, out.size(), &written, &error) == MOTE_OK);
  }
  must(mote_detokenizer_finish(model, &state, part, out.size(), &written, &error) == MOTE_OK);
}

inline void use_chat(const mote_model* model, mote_session* session) {
  const mote_message messages[] = {{MOTE_ROLE_SYSTEM, "a", 1, 0}, {MOTE_ROLE_USER, " hello ", 7, 0}};
  std::array<char, 256> text;
  std::array<int32_t, 256> ids;
  uint32_t count = 0;
  mote_error error{};
  mote_chat_tokenize(session, messages, 2, 1, text.data(), text.size(), ids.data(), 256, &count, &error);
  mote_model_info info;
  mote_model_get_info(model, &info);
  must(std::strlen(info.name) + std::strlen(info.architecture) < SIZE_MAX);
  for (uint32_t i = 0; i < info.stop_count; ++i) must(info.stop_ids[i] <= INT32_MAX);
}

/// A prompt and two tokens, in steps of which there are at most so many: a file may describe a model that is
/// slow.
inline mote_status generate_some(mote_session* session) {
  const int32_t prompt[] = {0, 0, 0, 0, 0};
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 2;
  mote_error error{};
  mote_status status = mote_generation_begin(session, prompt, 5, &generation, &error);
  mote_event event{};
  for (uint32_t step = 0; status == MOTE_OK && event.finish == MOTE_FINISH_NONE && step < 1000; ++step) {
    status = mote_session_step(session, 1, &event, &error);
  }
  return status;
}

/// Two sequences at once, and a text.
inline mote_status encode_some(const mote_model* model, mote_session* session) {
  const int32_t ids[] = {0, 0, 0, 0};
  const uint32_t lengths[] = {3, 1};
  mote_batch batch{};
  batch.ids = ids;
  batch.lengths = lengths;
  batch.count = 2;
  mote_error error{};
  const mote_status status = mote_encode(session, &batch, &error);
  if (status != MOTE_OK) return status;
  mote_output_info output;
  mote_model_get_output(model, &output);
  for (uint32_t i = 0; i < output.labels; ++i) must(std::strlen(mote_model_label(model, i)) < SIZE_MAX);
  const AlignedBytes row(output.width * sizeof(float));
  auto* const numbers = reinterpret_cast<float*>(row.data());
  must(mote_session_output(session, 0) != nullptr);
  mote_probabilities(session, 0, numbers, output.width, &error);
  mote_embed(session, "hello", 5, MOTE_TRUNCATE, numbers, output.width, &error);
  mote_classify(session, "hello", 5, MOTE_TRUNCATE, numbers, output.width, &error);
  return MOTE_OK;
}

/// Runs what such a model is for, then `choices`' calls.
inline mote_status run_some(const mote_model* model, const AnySession& session,
                            const mote_session_options& options, size_t file_bytes, Choices* choices) {
  const bool encoder = is_encoder(model);
  const mote_status status = encoder ? encode_some(model, session.get()) : generate_some(session.get());
  use_tokenizer(model, session.get());
  use_chat(model, session.get());
  AnyCalls calls(model, session, options, file_bytes, choices);
  if (!encoder) calls.save_and_restore();
  for (int call = 0; call < 12 && choices->left(); ++call) calls.make_one();
  mote_self_test self_test;
  mote_error error{};
  mote_session_self_test(session.get(), &self_test, &error);
  return status;
}

/// MOTE_OK where it opened and ran. `choices` are of the session's options and of calls on it. Arenas of more
/// than AnySession::kMostBytes are not given (MOTE_TOO_SMALL).
inline mote_status open_and_run(const AlignedBytes& file, Choices choices = {}) {
  static const AlignedBytes storage(mote_model_bytes());
  mote_model* model = nullptr;
  mote_error error{};
  mote_status status =
      mote_model_open(file.data(), file.size(), 0, storage.data(), storage.size(), &model, &error);
  if (status != MOTE_OK) {
    must(error.code == status && error.text[0] != '\0');
    return status;
  }
  const mote_session_options options = choose_options(model, &choices);
  AnySession session;
  status = session.open(model, options);
  return status != MOTE_OK ? status : run_some(model, session, options, file.size(), &choices);
}

}  // namespace test
