/* SPDX-License-Identifier: Apache-2.0 */
/* Stops a generation and goes on in another process, to the bit as if it had never stopped.
 *
 *   save_restore MODEL.mote STATE 1 5 7    generates 8 tokens after these ids and writes STATE
 *   save_restore MODEL.mote STATE          generates the 8 tokens after those, and so on
 */
#include "common.h"

enum { MAX_PROMPT = 1024, TOKENS = 8 };

/* The file holds the last token, which is not computed yet, and a snapshot of everything before it. */
static void write_state(const char* path, const mote_session* session, int32_t last) {
  mote_error error;
  size_t bytes = mote_session_state_bytes(session);
  void* state = allocate(bytes);
  check(mote_session_save(session, state, bytes, &bytes, &error), &error);
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(&last, sizeof last, 1, file) != 1 || fwrite(state, 1, bytes, file) != bytes ||
      fclose(file) != 0) {
    give_up(path, "cannot be written");
  }
  free(state);
}

static int32_t read_state(const char* path, mote_session* session) {
  mote_error error;
  int32_t last = 0;
  FILE* file = fopen(path, "rb");
  struct stat status;
  if (file == NULL || fstat(fileno(file), &status) != 0 || fread(&last, sizeof last, 1, file) != 1) {
    give_up(path, "cannot be read");
  }
  const size_t bytes = (size_t)status.st_size - sizeof last;
  void* state = allocate(bytes);
  if (fread(state, 1, bytes, file) != bytes) give_up(path, "cannot be read");
  fclose(file);
  /* Refused with a reason if it is damaged or of another model. */
  check(mote_session_restore(session, state, bytes, &error), &error);
  free(state);
  return last;
}

static int on_token(void* user, int32_t id) {
  *(int32_t*)user = id;
  printf("%d ", (int)id);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) give_up("usage", "save_restore MODEL.mote STATE [ID...]");
  mote_model* model = open_model(argv[1]);
  mote_session_options options = mote_session_options_default(model);
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);

  int32_t ids[MAX_PROMPT];
  uint32_t count = 0;
  for (int i = 3; i < argc && count < MAX_PROMPT; ++i) ids[count++] = (int32_t)strtol(argv[i], NULL, 10);
  if (count == 0) ids[count++] = read_state(argv[2], session);

  int32_t last = 0;
  mote_error error;
  mote_generation generation = mote_generation_default();
  generation.max_tokens = TOKENS;
  check(mote_generate(session, ids, count, &generation, on_token, &last, NULL, &error), &error);
  printf("\n");
  write_state(argv[2], session, last);
  free(arena);
  return 0;
}
