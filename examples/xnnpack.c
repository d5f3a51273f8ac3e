/* SPDX-License-Identifier: Apache-2.0 */
/* Continues token ids with XNNPACK multiplying the matrices, in memory that the application gives: for models
 * with f32 weights. docs/performance.md says where it is faster.
 *
 *   xnnpack MODEL.mote 1 5 7
 */
#include "common.h"

#include <errno.h>
#include <mote/posix.h>
#include <mote/xnnpack.h>
#include <string.h>

enum { MAX_PROMPT = 1024, MAX_TOKENS = 32 };

static int on_token(void* user, int32_t id) {
  (void)user;
  printf("%d ", (int)id);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) give_up("usage", "xnnpack MODEL.mote ID...");
  mote_model* model = open_model(argv[1]);
  mote_error error;
  const uint32_t threads = mote_posix_big_cores();
  mote_posix_pool* pool = mote_posix_pool_create(threads);
  if (pool == NULL) give_up("threads", strerror(errno));

  /* The operators, one for each thread and matrix, hold a copy of the weights. All sessions of the model may
   * share them.
   */
  const size_t bytes = mote_xnnpack_bytes(model, threads, &error);
  if (bytes == 0) give_up("XNNPACK", error.text);
  void* region = allocate(bytes);
  const mote_backend* backend = NULL;
  check(mote_xnnpack_create(model, threads, region, bytes, &backend, &error), &error);

  mote_session_options options = mote_session_options_default(model);
  options.platform = mote_posix_pool_platform(pool);
  options.backend = backend;
  void* arena = NULL;
  mote_session* session = open_session(model, &options, &arena);

  int32_t ids[MAX_PROMPT];
  uint32_t count = 0;
  for (int i = 2; i < argc && count < MAX_PROMPT; ++i) ids[count++] = (int32_t)strtol(argv[i], NULL, 10);
  mote_generation generation = mote_generation_default();
  generation.max_tokens = MAX_TOKENS;
  check(mote_generate(session, ids, count, &generation, on_token, NULL, NULL, &error), &error);
  printf("\n");

  free(arena);
  free(region); /* after the last session */
  mote_posix_pool_destroy(pool);
  return 0;
}
