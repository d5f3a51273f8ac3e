// SPDX-License-Identifier: Apache-2.0
//
// The model in flash, opened and run on the target.
#include <string.h>

#include <initializer_list>

#include "mote/mote.h"
#include "platforms/cortex_m/startup.h"
#include "tests/firmware/tests.h"
#include "tests/firmware/unity.h"

extern "C" {
extern const unsigned char firmware_model[], firmware_model_end[];
}

namespace {

constexpr uint32_t kTokens = 8;
const char kCommand[] = "turn off the lamp";

alignas(8) unsigned char storage[MOTE_MODEL_BYTES];
mote_error error;

size_t model_bytes() { return static_cast<size_t>(firmware_model_end - firmware_model); }

const mote_model* open_model() {
  mote_model* model = nullptr;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_model_open(firmware_model, model_bytes(), MOTE_OPEN_CHECK_HASHES,
                                                 storage, sizeof storage, &model, &error));
  return model;
}

mote_session_options options_of(const mote_model* model, uint32_t chunk) {
  mote_session_options options = mote_session_options_default(model);
  options.context = 64;
  options.chunk = chunk;
  options.logit_rows = 1;
  options.text_bytes = 32;
  return options;
}

mote_session* make_session(const mote_model* model, uint32_t chunk) {
  const mote_session_options options = options_of(model, chunk);
  mote_session* session = nullptr;
  TEST_ASSERT_EQUAL_INT(
      MOTE_OK, mote_session_init(model, &options, arena_start, static_cast<size_t>(arena_end - arena_start),
                                 &session, &error));
  return session;
}

/// Tokens of the command and its answer.
struct Run {
  int32_t prompt[32], ids[kTokens];
  uint32_t prompt_count;
};

void begin(mote_session* session, Run* run) {
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_tokenize(session, kCommand, sizeof kCommand - 1, 0, run->prompt, 32,
                                               &run->prompt_count, nullptr, &error));
  mote_generation generation = mote_generation_default();
  generation.max_tokens = kTokens;
  generation.ignore_model_stops = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_OK,
                        mote_generation_begin(session, run->prompt, run->prompt_count, &generation, &error));
}

/// The tokens from `from` to `to` of the answer.
void go_on(mote_session* session, uint32_t operations, Run* run, uint32_t from, uint32_t to) {
  while (from < to) {
    mote_event event = {};
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_step(session, operations, &event, &error));
    if (event.has_token != 0) run->ids[from++] = event.id;
  }
}

/// The tokens after `id`.
void continue_with(mote_session* session, int32_t id, Run* run) {
  mote_generation generation = mote_generation_default();
  generation.max_tokens = kTokens;
  generation.ignore_model_stops = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_generation_begin(session, &id, 1, &generation, &error));
  go_on(session, 0, run, 0, kTokens);
}

}  // namespace

void the_self_test_of_the_model_passes() {
  mote_session* session = make_session(open_model(), 8);
  mote_self_test result = {};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_self_test(session, &result, &error));
}

void the_same_ids_come_of_any_chunk_and_any_step() {
  static Run first, other;
  const mote_model* model = open_model();
  mote_session* session = make_session(model, 1);
  begin(session, &first);
  go_on(session, 0, &first, 0, kTokens);
  for (const uint32_t chunk : {3u, 16u}) {
    session = make_session(model, chunk);
    begin(session, &other);
    go_on(session, chunk, &other, 0, kTokens);
    TEST_ASSERT_EQUAL_MEMORY(first.ids, other.ids, sizeof first.ids);
  }
}

void a_saved_session_goes_on_where_it_was() {
  static Run first, other;
  alignas(8) static unsigned char snapshot[96 * 1024];
  const mote_model* model = open_model();
  mote_session* session = make_session(model, 8);
  begin(session, &first);
  go_on(session, 0, &first, 0, kTokens);
  const int32_t last = first.ids[kTokens - 1];
  size_t bytes = 0;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_save(session, snapshot, sizeof snapshot, &bytes, &error));
  continue_with(session, last, &first);
  session = make_session(model, 8);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_restore(session, snapshot, bytes, &error));
  continue_with(session, last, &other);
  TEST_ASSERT_EQUAL_MEMORY(first.ids, other.ids, sizeof first.ids);
}

void a_truncated_model_is_refused() {
  mote_model* model = nullptr;
  TEST_ASSERT_EQUAL_INT(MOTE_TRUNCATED, mote_model_open(firmware_model, model_bytes() / 2, 0, storage,
                                                        sizeof storage, &model, &error));
}

void a_flipped_bit_is_found() {
  const size_t bytes = model_bytes();
  TEST_ASSERT_TRUE(static_cast<size_t>(arena_end - arena_start) >= bytes);
  memcpy(arena_start, firmware_model, bytes);
  arena_start[bytes - 100] ^= 4;
  mote_model* model = nullptr;
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, mote_model_open(arena_start, bytes, MOTE_OPEN_CHECK_HASHES,
                                                           storage, sizeof storage, &model, &error));
}

void an_arena_that_is_too_small_is_refused() {
  const mote_model* model = open_model();
  const mote_session_options options = options_of(model, 8);
  const size_t bytes = mote_session_bytes(model, &options);
  mote_session* session = nullptr;
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL,
                        mote_session_init(model, &options, arena_start, bytes - 1, &session, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_init(model, &options, arena_start, bytes, &session, &error));
}
