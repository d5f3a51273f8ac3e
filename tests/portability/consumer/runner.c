/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a model's self test and, of a decoder, prints the logits of a fixed prompt: runner FILE.mote */
#include <stdio.h>
#include <stdlib.h>

#include "mote/mote.h"
#include "mote/posix.h"
#include "mote/sound.h"

enum { PROMPT = 8 };

static uint64_t storage[MOTE_MODEL_BYTES / 8]; /* a model's, with no call before the program runs */

static int failed(const char* what, mote_status status, const mote_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, mote_status_name(status), error->text);
  return 1;
}

/* Aligned for mote, never freed. */
static void* allocate(size_t bytes) {
  char* block = malloc(bytes + MOTE_ALIGNMENT);
  if (!block) exit(1);
  return block + (MOTE_ALIGNMENT - (uintptr_t)block % MOTE_ALIGNMENT);
}

static void* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  long size;
  void* data;
  if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) return NULL;
  rewind(file);
  *bytes = (size_t)size;
  data = allocate(*bytes);
  if (fread(data, 1, *bytes, file) != *bytes) return NULL;
  fclose(file);
  return data;
}

static int print_logits(mote_session* session, uint32_t vocab) {
  mote_error error;
  int32_t ids[PROMPT];
  mote_status status;
  for (uint32_t i = 0; i < PROMPT; ++i) ids[i] = (int32_t)((7 + 13 * i) % vocab);
  status = mote_session_truncate(session, 0, 0, &error);
  if (status == MOTE_OK) status = mote_prefill(session, 0, ids, PROMPT, MOTE_LOGITS_ALL, &error);
  if (status != MOTE_OK) return failed("prefill", status, &error);
  for (uint32_t row = 0; row < PROMPT; ++row) {
    const float* logits = mote_session_logits(session, row);
    for (uint32_t id = 0; id < vocab; ++id) printf("logit %u %u %.9g\n", row, id, (double)logits[id]);
  }
  return 0;
}

int main(int argc, char** argv) {
  size_t bytes = 0, arena_bytes;
  void* data = argc == 2 ? read_file(argv[1], &bytes) : NULL;
  mote_error error;
  mote_status status;
  mote_model* model;
  mote_model_info info;
  mote_output_info output;
  mote_speech_info speech;
  mote_session* session;
  mote_session_options options;
  mote_self_test test;
  mote_posix_pool* pool = mote_posix_pool_create(2);
  if (!data || !pool) {
    fprintf(stderr, "usage: runner FILE.mote\n");
    return 2;
  }
  status = mote_model_open(data, bytes, MOTE_OPEN_CHECK_HASHES, storage, sizeof storage, &model, &error);
  if (status != MOTE_OK) return failed("open", status, &error);
  mote_model_get_info(model, &info);

  mote_model_get_output(model, &output);
  options = mote_session_options_default(model);
  if (output.kind == MOTE_OUTPUT_NEXT_TOKEN) options.logit_rows = PROMPT;
  options.platform = mote_posix_pool_platform(pool);
  arena_bytes = mote_session_bytes(model, &options);
  status = mote_session_init(model, &options, allocate(arena_bytes), arena_bytes, &session, &error);
  if (status != MOTE_OK) return failed("session", status, &error);
  printf("isa %s\n", mote_isa_name(mote_session_isa(session)));

  status = mote_session_self_test(session, &test, &error);
  if (status != MOTE_OK) return failed("self test", status, &error);
  printf("self test: %u of %u ids, logits within %g\n", test.equal_ids, test.ids,
         (double)test.largest_difference);
  /* A transducer's ids come with rows of sound. */
  mote_model_get_speech(model, &speech);
  if (output.kind == MOTE_OUTPUT_NEXT_TOKEN && speech.duration_count == 0 &&
      print_logits(session, info.vocab)) {
    status = MOTE_SELF_TEST_FAILED;
  }
  mote_posix_pool_destroy(pool);
  return status == MOTE_OK ? 0 : 1;
}
