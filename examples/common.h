/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the examples share: memory, a model from a file, and giving up. All of it is the
 * application's business: mote itself neither allocates nor reads files. Firmware has the model in flash and
 * the arena in a static array, see bounded_step.c. */
#ifndef EXAMPLES_COMMON_H_
#define EXAMPLES_COMMON_H_

#undef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mote/mote.h"
#include "mote/posix.h"

static inline void give_up(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* Every call that can fail says why in a sentence. */
static inline void check(mote_status status, const mote_error* error) {
  if (status != MOTE_OK) give_up(mote_status_name(status), error->text);
}

/* Memory as arenas and files must have it; free() gives it back. */
static inline void* allocate(size_t bytes) {
  void* block = NULL;
  if (bytes == 0 || posix_memalign(&block, MOTE_ALIGNMENT, bytes) != 0)
    give_up("memory", "there is not enough");
  return block;
}

/* A mapped file is used in place: opening takes milliseconds, and processes that run the same model share its
 * pages. The mapping stays until the process ends. */
static inline const void* map_file(const char* path, size_t* bytes) {
  const int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) give_up(path, "cannot be opened");
  *bytes = (size_t)status.st_size;
  void* data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) give_up(path, "cannot be mapped");
  close(file);
  return data;
}

/* A model's storage is a static array; these programs open one model each. */
static inline mote_model* open_model(const char* path) {
  static uint64_t storage[MOTE_MODEL_BYTES / 8];
  size_t bytes = 0;
  const void* data = map_file(path, &bytes);
  mote_model* model = NULL;
  mote_error error;
  check(mote_model_open(data, bytes, 0, storage, sizeof storage, &model, &error), &error);
  return model;
}

static inline mote_output_info output_of(const mote_model* model) {
  mote_output_info output;
  mote_model_get_output(model, &output);
  return output;
}

/* Threads are the application's to give: a pool of the processor's fast cores. */
static inline mote_posix_pool* start_threads(void) {
  mote_posix_pool* pool = mote_posix_pool_create(mote_posix_big_cores());
  if (pool == NULL) give_up("threads", strerror(errno));
  return pool;
}

/* Makes a session in memory of exactly the bytes that it takes, which free(*arena) gives back. */
static inline mote_session* open_session(const mote_model* model, const mote_session_options* options,
                                         void** arena) {
  mote_session* session = NULL;
  mote_error error;
  mote_memory memory; /* says why options are refused, where mote_session_bytes gives 0 */
  check(mote_session_memory(model, options, &memory, &error), &error);
  const size_t bytes = mote_session_bytes(model, options);
  *arena = allocate(bytes);
  check(mote_session_init(model, options, *arena, bytes, &session, &error), &error);
  return session;
}

#endif
