/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for Linux and other POSIX systems.
 *
 *   mote_posix_pool* pool = mote_posix_pool_create(mote_posix_big_cores());
 *   options.platform = mote_posix_pool_platform(pool);
 *   ... sessions with these options ...
 *   mote_posix_pool_destroy(pool);
 *
 * A pool serves one parallel_for at a time: sessions that run at once need a pool each. Between calls its threads spin
 * for a millisecond, or 20 microseconds where one of the process has just lost its core to another program, then sleep.
 * They take no signals.
 */
#ifndef MOTE_POSIX_H_
#define MOTE_POSIX_H_

#include <stdint.h>

#include "mote/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_posix_pool mote_posix_pool;

/* A pool of `threads` threads, the caller of parallel_for being one of them; 0 is 1. Null if memory or threads run
   out. All that it will ever allocate is allocated here. */
mote_posix_pool* mote_posix_pool_create(uint32_t threads);

/* Ends the threads; no session may use the pool any more. Null does nothing. */
void mote_posix_pool_destroy(mote_posix_pool* pool);

/* mote_platform_default() with the pool's threads. Index i of a parallel_for runs on thread i % threads, index 0 on
   the caller. Null gives mote_platform_default(). */
mote_platform mote_posix_pool_platform(mote_posix_pool* pool);

/* The cores this process may use, without the slow ones of a mixed processor: those whose highest clock reaches 80 %
   of the fastest core's. At least 1. */
uint32_t mote_posix_big_cores(void);

#ifdef __cplusplus
}
#endif
#endif
