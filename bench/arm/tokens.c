/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model for count_tokens: tokens FILE.mote PROMPT DECODE DEPTH
 * A prompt of PROMPT tokens after DEPTH tokens, then DECODE single ones; where DECODE is "encode", of an
 * encoder. One thread. Prints the family and a sum of the outputs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "mote/mote.h"
#include "mote/posix.h"

enum { MOST_IDS = 4096 };

static uint64_t storage[MOTE_MODEL_BYTES / 8];
static mote_error error;

static void check(const char* what, mote_status status) {
  if (status == MOTE_OK) return;
  fprintf(stderr, "tokens: %s: %s: %s\n", what, mote_status_name(status), error.text);
  exit(1);
}

static double sum(const float* outputs, uint32_t width) {
  double total = 0;
  for (uint32_t i = 0; outputs && i < width; ++i) total += outputs[i];
  return total;
}

int main(int argc, char** argv) {
  static int32_t ids[MOST_IDS];
  if (argc != 5) {
    fprintf(stderr, "usage: tokens FILE.mote PROMPT DECODE DEPTH\n");
    return 2;
  }
  const uint32_t prompt = (uint32_t)atoi(argv[2]), decode = (uint32_t)atoi(argv[3]),
                 depth = (uint32_t)atoi(argv[4]);
  const int encode = strcmp(argv[3], "encode") == 0;
  const int file = open(argv[1], O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0 || prompt + depth > MOST_IDS) return 2;
  const size_t bytes = (size_t)status.st_size;
  void* data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return 2;
  mote_model* model;
  check("open", mote_model_open(data, bytes, 0, storage, sizeof storage, &model, &error));
  mote_model_info info;
  mote_model_get_info(model, &info);
  for (uint32_t i = 0; i < MOST_IDS; ++i) ids[i] = (int32_t)((7 + 13 * i) % info.vocab);

  mote_session_options options = mote_session_options_default(model);
  mote_posix_pool* pool = mote_posix_pool_create(1);
  options.platform = mote_posix_pool_platform(pool);
  const size_t arena_bytes = mote_session_bytes(model, &options);
  mote_session* session;
  void* arena =
      aligned_alloc(MOTE_ALIGNMENT, (arena_bytes + MOTE_ALIGNMENT - 1) / MOTE_ALIGNMENT * MOTE_ALIGNMENT);
  check("session", mote_session_init(model, &options, arena, arena_bytes, &session, &error));
  if (encode) {
    mote_batch batch = {0};
    batch.ids = ids;
    batch.lengths = &prompt;
    batch.count = 1;
    check("encode", mote_encode(session, &batch, &error));
    printf("%s %.9g\n", mote_isa_name(mote_session_isa(session)), sum(mote_session_output(session, 0), 1));
  } else {
    if (depth) check("prefill", mote_prefill(session, 0, ids, depth, MOTE_LOGITS_NONE, &error));
    if (prompt) check("prefill", mote_prefill(session, 0, ids + depth, prompt, MOTE_LOGITS_NONE, &error));
    for (uint32_t i = 0; i < decode; ++i) check("decode", mote_decode(session, ids + i, &error));
    printf("%s %.9g\n", mote_isa_name(mote_session_isa(session)),
           sum(mote_session_logits(session, 0), info.vocab));
  }
  mote_posix_pool_destroy(pool);
  return 0;
}
