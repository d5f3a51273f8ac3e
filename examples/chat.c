/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation: a line of standard input is a message, the answer is streamed. The session keeps its work
 * on earlier turns: only the new part of the conversation is computed.
 *
 *   chat MODEL.mote
 */
#include "common.h"

#include <string.h>

enum { MAX_MESSAGES = 32, TEXT_BYTES = 16384, MAX_IDS = 4096, MAX_TOKENS = 256 };

static mote_message messages[MAX_MESSAGES];
static uint32_t message_count;
static char texts[TEXT_BYTES], rendered[2 * TEXT_BYTES]; /* of all messages; of the whole conversation */
static size_t text_bytes;
static int32_t held[2 * MAX_IDS]; /* the tokens that the session holds */

/* Adds bytes to the last message. */
static void extend(const char* text, size_t bytes) {
  if (text_bytes + bytes > TEXT_BYTES) give_up("chat", "the conversation is too long");
  memcpy(texts + text_bytes, text, bytes);
  text_bytes += bytes;
  messages[message_count - 1].bytes += bytes;
}

static void begin_message(mote_role role) {
  if (message_count == MAX_MESSAGES) give_up("chat", "the conversation is too long");
  messages[message_count].role = role;
  messages[message_count].text = texts + text_bytes;
  messages[message_count++].bytes = 0;
}

/* Leaves in the session what it shares with `ids` and returns how many those are, at most n - 1. */
static uint32_t reuse(mote_session* session, const int32_t* ids, uint32_t n) {
  mote_error error;
  uint32_t shared = 0;
  const uint32_t length = mote_session_length(session, 0);
  while (shared < length && shared + 1 < n && held[shared] == ids[shared]) ++shared;
  if (mote_session_truncate(session, 0, shared, &error) == MOTE_OK) return shared;
  check(mote_session_truncate(session, 0, 0, &error), &error); /* a sliding window keeps no earlier state */
  return 0;
}

static void answer(const mote_model* model, mote_session* session, char* part) {
  static int32_t ids[MAX_IDS];
  uint32_t n = 0;
  mote_error error;
  mote_detokenizer detokenizer;
  mote_event event = {0};
  mote_generation generation = mote_generation_default();
  generation.max_tokens = MAX_TOKENS;
  check(mote_chat_tokenize(session, messages, message_count, 1, rendered, sizeof rendered, ids, MAX_IDS, &n,
                           &error),
        &error);
  const uint32_t shared = reuse(session, ids, n);
  memcpy(held, ids, n * sizeof *ids);
  check(mote_generation_begin(session, ids + shared, n - shared, &generation, &error), &error);
  check(mote_detokenizer_start(model, MOTE_SKIP_SPECIAL | MOTE_KEEP_LEADING_SPACE, &detokenizer, &error),
        &error);
  begin_message(MOTE_ROLE_ASSISTANT);
  while (event.finish == MOTE_FINISH_NONE) {
    check(mote_session_step(session, 0, &event, &error), &error); /* up to the next token */
    held[n++] = event.id;
    if (event.finish == MOTE_FINISH_STOP) break;
    size_t bytes = 0;
    check(mote_detokenizer_next(model, &detokenizer, event.id, part, mote_detokenizer_room(model), &bytes,
                                &error),
          &error);
    extend(part, bytes);
    fwrite(part, 1, bytes, stdout);
    fflush(stdout);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc != 2) give_up("usage", "chat MODEL.mote");
  mote_model* model = open_model(argv[1]);
  if (mote_chat_format(model) == NULL) give_up(argv[1], "has no chat format: convert it with --chat-format");
  mote_posix_pool* pool = start_threads();
  mote_session_options options = mote_session_options_default(model);
  options.platform = mote_posix_pool_platform(pool);
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);
  char* part = allocate(mote_detokenizer_room(model));

  char line[1024];
  while (fgets(line, sizeof line, stdin) != NULL) {
    begin_message(MOTE_ROLE_USER);
    extend(line, strcspn(line, "\n"));
    answer(model, session, part);
  }
  free(part);
  free(arena);
  mote_posix_pool_destroy(pool);
  return 0;
}
