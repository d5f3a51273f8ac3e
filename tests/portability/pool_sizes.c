/* SPDX-License-Identifier: Apache-2.0 */
/* Pools whose bytes a 32-bit size_t cannot count are refused; a small one works. Says what is wrong, or "ok".
 */
#include <errno.h>
#include <stdio.h>

#include "mote/posix.h"

static int failed(const char* what, unsigned long threads) {
  printf("a pool of %lu threads %s\n", threads, what);
  return 1;
}

static void count(void* context, uint32_t index) { ++((uint32_t*)context)[index]; }

int main(void) {
  /* A worker's bytes are a multiple of 64, so those of 2^26 workers wrap to 0. */
  static const uint32_t kTooMany[] = {(1u << 26) + 1, (1u << 26) + 2, (1u << 31) + 1, UINT32_MAX};
  uint32_t times[7] = {0};
  if (sizeof(size_t) != 4) return failed("is no matter here: pointers are wide", 0);
  for (unsigned i = 0; i < sizeof kTooMany / sizeof *kTooMany; ++i) {
    errno = 0;
    if (mote_posix_pool_create(kTooMany[i]) != NULL) return failed("was made", kTooMany[i]);
    if (errno != ENOMEM) return failed("is refused for another reason", kTooMany[i]);
  }

  mote_posix_pool* pool = mote_posix_pool_create(3);
  if (pool == NULL) return failed("was not made", 3);
  const mote_platform platform = mote_posix_pool_platform(pool);
  if (platform.threads != 3) return failed("has others", 3);
  for (int call = 0; call < 100; ++call) platform.parallel_for(platform.user, count, times, 7);
  for (int i = 0; i < 7; ++i) {
    if (times[i] != 100) return failed("left something out", 3);
  }
  mote_posix_pool_destroy(pool);
  puts("ok");
  return 0;
}
