/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols that objects and archives of Debian 12 ask for and that older C libraries lack, for shared libraries that
 * scripts/release links against those. All are hidden: nothing outside the library sees them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#define MOTE_HIDDEN __attribute__((visibility("hidden")))

enum { kSecond = 1000000000 };

char __libc_single_threaded MOTE_HIDDEN = 0; /* counters of shared pointers are atomic */

MOTE_HIDDEN unsigned arc4random(void) {
  unsigned value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}

/* Waits until a time of any clock, as the time that is left of it by the clock that old libraries wait by. */
MOTE_HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                       const struct timespec* end) {
  struct timespec now, real;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) return EINVAL;
  real.tv_sec += end->tv_sec - now.tv_sec;
  real.tv_nsec += end->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += kSecond;
    --real.tv_sec;
  } else if (real.tv_nsec >= kSecond) {
    real.tv_nsec -= kSecond;
    ++real.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &real);
}

/* Archives of libraries of pictures and sound reach the standard streams as programs do; there the names are these. */
FILE *mote_stdin MOTE_HIDDEN, *mote_stdout MOTE_HIDDEN, *mote_stderr MOTE_HIDDEN;

__attribute__((constructor)) static void set_streams(void) {
  mote_stdin = stdin;
  mote_stdout = stdout;
  mote_stderr = stderr;
}
