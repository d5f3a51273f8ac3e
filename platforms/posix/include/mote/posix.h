/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for Linux and other POSIX systems.
 *
 *   mote_posix_pool* pool = mote_posix_pool_create(mote_posix_big_cores());
 *   if (pool == NULL) return report(strerror(errno));
 *   options.platform = mote_posix_pool_platform(pool);
 *   mote_session_init(model, &options, arena, arena_bytes, &session, &error);
 *   mote_posix_pool_destroy(pool);  // after the last session with these options
 *
 * A pool's threads serve one parallel_for at a time. One that comes meanwhile, from another thread or from a
 * task, neither waits nor fails: its caller runs all of it alone. So sessions in several threads may share a
 * pool and give the same results as ever; to keep all their threads at work they need a pool each. Between
 * calls a pool's threads spin for a millisecond, or 20 microseconds where one of the process has just lost
 * its core to another program, then sleep. They take no signals.
 */
#ifndef MOTE_POSIX_H_
#define MOTE_POSIX_H_

#include <stdint.h>

#include "mote/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_posix_pool mote_posix_pool;

/* A pool of exactly `threads` threads, the caller of parallel_for being one of them; 0 is 1. Null if they
   cannot all be had; none is left running then, and errno is ENOMEM or what pthread_create gave (EAGAIN: too
   many threads). All that it will ever allocate is allocated here. */
mote_posix_pool* mote_posix_pool_create(uint32_t threads);

/* Ends the threads; no session may use the pool any more. Null does nothing. */
void mote_posix_pool_destroy(mote_posix_pool* pool);

/* mote_platform_default() with the pool's threads. Indices of a parallel_for that are equal modulo `threads`
   run on one thread, one after the other, index 0 on the caller. Null gives mote_platform_default(): one
   thread. */
mote_platform mote_posix_pool_platform(mote_posix_pool* pool);

/* The cores this process may use, without the slow ones of a mixed processor: those whose highest clock
   reaches 80 % of the fastest core's. At least 1. */
uint32_t mote_posix_big_cores(void);

#ifdef __cplusplus
}
#endif
#endif
