/* SPDX-License-Identifier: Apache-2.0 */
/* Continues a text, or token ids, and prints what comes as it comes.
 *
 *   generate MODEL.mote "Once upon a time"
 *   generate MODEL.mote --ids 1 5 7
 */
#include "common.h"

#include <string.h>

enum { MAX_PROMPT = 1024, MAX_TOKENS = 32 };

typedef struct printer {
  const mote_model* model;
  mote_detokenizer detokenizer;
  char* text; /* of a token; null to print ids */
} printer;

/* Called for each token. A token may be part of a character: the detokenizer waits until it is whole. */
static int on_token(void* user, int32_t id) {
  printer* out = user;
  if (out->text == NULL) {
    printf("%d ", (int)id);
  } else {
    size_t bytes = 0;
    mote_error error;
    check(mote_detokenizer_next(out->model, &out->detokenizer, id, out->text,
                                mote_detokenizer_room(out->model), &bytes, &error),
          &error);
    fwrite(out->text, 1, bytes, stdout);
  }
  fflush(stdout);
  return 0; /* anything else stops */
}

int main(int argc, char** argv) {
  const int has_ids = argc > 3 && strcmp(argv[2], "--ids") == 0;
  if (argc != 3 && !has_ids) give_up("usage", "generate MODEL.mote TEXT | generate MODEL.mote --ids ID...");
  mote_model* model = open_model(argv[1]);
  mote_error error;

  mote_posix_pool* pool = start_threads();
  mote_session_options options = mote_session_options_default(model);
  options.platform = mote_posix_pool_platform(pool);
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);

  int32_t ids[MAX_PROMPT];
  uint32_t count = 0;
  printer out = {model, {0}, NULL};
  if (has_ids) {
    for (int i = 3; i < argc && count < MAX_PROMPT; ++i) ids[count++] = (int32_t)strtol(argv[i], NULL, 10);
  } else {
    check(mote_tokenize(session, argv[2], strlen(argv[2]), MOTE_ADD_SPECIAL, ids, MAX_PROMPT, &count, NULL,
                        &error),
          &error);
    check(
        mote_detokenizer_start(model, MOTE_SKIP_SPECIAL | MOTE_KEEP_LEADING_SPACE, &out.detokenizer, &error),
        &error);
    out.text = allocate(mote_detokenizer_room(model));
  }

  mote_generation generation =
      mote_generation_default(); /* greedy; .sampling has temperature, top_p and so on */
  generation.max_tokens = MAX_TOKENS;
  check(mote_generate(session, ids, count, &generation, on_token, &out, NULL, &error), &error);
  if (out.text != NULL) {
    size_t bytes = 0;
    check(mote_detokenizer_finish(model, &out.detokenizer, out.text, mote_detokenizer_room(model), &bytes,
                                  &error),
          &error);
    fwrite(out.text, 1, bytes, stdout);
  }
  printf("\n");

  free(out.text);
  free(arena);
  mote_posix_pool_destroy(pool);
  return 0;
}
