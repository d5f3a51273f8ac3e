// SPDX-License-Identifier: Apache-2.0
//
// Bytes that may be anything, used as a model: any result is right but a crash.
#pragma once

#include <array>

#include "mote/pictures.h"
#include "mote/task.h"
#include "tests/support/any_calls.h"
#include "tests/support/any_session.h"

namespace test {

/// To ids and back.
inline void use_tokenizer(const mote_model* model, mote_session* session, Observed* observed) {
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
    observed->number(ids[i]);
    must(mote_detokenizer_next(model, &state, ids[i], part, out.size(), &written, &error) == MOTE_OK);
  }
  must(mote_detokenizer_finish(model, &state, part, out.size(), &written, &error) == MOTE_OK);
}

inline void use_chat(const mote_model* model, mote_session* session) {
  const mote_message messages[] = {{MOTE_ROLE_SYSTEM, "a", 1, 0, 0, {}},
                                   {MOTE_ROLE_USER, " hello ", 7, 0, 0, {}}};
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

/// The model's task, the languages that it tells apart, the steps of its pictures.
inline void use_task(const mote_model* model, Observed* observed) {
  mote_task_info info;
  mote_model_get_task(model, &info);
  must(std::strlen(mote_model_task_name(info.task)) != 0);
  int32_t id = 0;
  for (uint32_t i = 0; i < info.languages; ++i) {
    must(std::strlen(mote_model_language(model, i, &id)) < SIZE_MAX);
    must(id >= 0 && info.mask_id >= -1);
    observed->number(id);
  }
  must(mote_model_language(model, info.languages, &id) == nullptr);
  mote_picture_info picture;
  if (mote_model_get_picture(model, &picture, nullptr) != MOTE_OK) return;
  for (uint32_t i = 0; i < picture.step_count; ++i) {
    const mote_picture_step& step = picture.steps[i];
    if (step.kind != MOTE_PICTURE_NORMALIZE) continue;
    observed->floats(step.mean, picture.channels);
    observed->floats(step.deviation, picture.channels);
  }
}

/// A prompt and two tokens, in steps of which there are at most so many: a file may describe a model that is
/// slow.
inline mote_status generate_some(mote_session* session, Observed* observed = nullptr) {
  const int32_t prompt[] = {0, 0, 0, 0, 0};
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 2;
  mote_error error{};
  mote_status status = mote_generation_begin(session, prompt, 5, &generation, &error);
  mote_event event{};
  for (uint32_t step = 0; status == MOTE_OK && event.finish == MOTE_FINISH_NONE && step < 1000; ++step) {
    status = mote_session_step(session, 1, &event, &error);
    if (observed != nullptr && event.has_token != 0) observed->number(event.id);
  }
  return status;
}

/// Gives sequence 0 a short source of each program that encodes.
inline void give_sources(const mote_model* model, mote_session* session) {
  for (uint32_t p = 0; p < mote_model_programs(model); ++p) {
    mote_program_info program;
    mote_model_get_program(model, p, &program);
    if (program.whole == 0) continue;
    const uint32_t least = mote::least_tokens(*model->root->programs()->Get(p));
    if (least > 4096 || program.input_width > 4096) continue;
    const std::vector<mote_row> rows(std::max(least, 3u), {0, 0, 0, 0});
    const std::vector<float> values(rows.size() * program.input_width, 0.5f);
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.program = p;
    call.values = program.input_width != 0 ? values.data() : nullptr;
    mote_compute(session, &call, nullptr);
  }
}

/// Two sequences at once, and a text.
inline mote_status encode_some(const mote_model* model, mote_session* session, Observed* observed) {
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
  observed->floats(mote_session_output(session, 0), output.width);
  mote_probabilities(session, 0, numbers, output.width, &error);
  mote_embed(session, "hello", 5, MOTE_TRUNCATE, numbers, output.width, &error);
  mote_classify(session, "hello", 5, MOTE_TRUNCATE, numbers, output.width, &error);
  observed->floats(numbers, output.width);
  return MOTE_OK;
}

/// Runs what such a model is for, then `choices`' calls, of what rows take in an arena of so many bytes.
inline mote_status run_some(const mote_model* model, const AnySession& session,
                            const mote_session_options& options, size_t file_bytes, size_t arena_bytes,
                            Choices* choices, Observed* observed) {
  const bool encoder = is_encoder(model);
  AnyCalls calls(model, session, options, file_bytes, arena_bytes, choices);
  Observed& seen = calls.observed();
  if (model->sources) give_sources(model, session.get());
  const mote_status status =
      encoder ? encode_some(model, session.get(), &seen) : generate_some(session.get(), &seen);
  seen.number(status);
  use_tokenizer(model, session.get(), &seen);
  use_chat(model, session.get());
  use_task(model, &seen);
  if (!encoder) calls.save_and_restore();
  seen.end_call();
  for (int call = 0; call < 12 && choices->left(); ++call) calls.make_one();
  mote_self_test self_test{};
  mote_error error{};
  seen.number(mote_session_self_test(session.get(), &self_test, &error));
  seen.number(self_test.equal_ids);
  seen.end_call();
  *observed = seen;
  return status;
}

/// Whether an honest file is run: one whose buffers do not overlap while they are in use. Of such a file all
/// that a caller sees is the same for any threads; of any file it is, for one thread, whatever the arena
/// held.
enum class Honest { no, yes };

/// Runs the same calls in a session whose arena held something else; of an honest file, of another number of
/// threads.
inline void run_again(const mote_model* model, mote_session_options options, size_t file_bytes,
                      size_t arena_bytes, Choices choices, Honest honest, const Observed& seen) {
  const bool one_thread = options.platform.threads <= 1;
  if (honest == Honest::yes) {
    options.platform = platform_of(options.platform.threads == 2 ? 1 : 2);
    options.threads = options.decode_threads = 0;
  }
  AnySession session;
  const mote_status opened = session.open(model, options, 0x11);
  must(opened == MOTE_OK || opened == MOTE_TOO_SMALL);
  if (opened != MOTE_OK) return;
  Observed again;
  run_some(model, session, options, file_bytes, arena_bytes, &choices, &again);
  must((honest == Honest::no && !one_thread) || again.agrees(seen));
}

/// MOTE_OK where it opened and ran. `choices` are of the session's options and of calls on it. Arenas of more
/// than AnySession::kMostBytes are not given (MOTE_TOO_SMALL).
inline mote_status open_and_run(const AlignedBytes& file, Choices choices = {}, Honest honest = Honest::no,
                                size_t* rows_read = nullptr) {
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
  if (status != MOTE_OK) return status;
  Observed seen;
  const Choices same = choices;
  status = run_some(model, session, options, file.size(), session.bytes(), &choices, &seen);
  run_again(model, options, file.size(), session.bytes(), same, honest, seen);
  if (rows_read != nullptr) *rows_read += seen.rows();
  return status;
}

}  // namespace test
