/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the machine that the runtime may use. Everything is optional. */
#ifndef MOTE_PLATFORM_H_
#define MOTE_PLATFORM_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel family; MOTE_ISA_AUTO is the best one that the CPU has. */
typedef enum mote_isa {
  MOTE_ISA_UNKNOWN = -1, /* the name of none: refused by mote_session_init */
  MOTE_ISA_AUTO = 0,
  MOTE_ISA_REF = 1,
  MOTE_ISA_AVX2 = 2,
  MOTE_ISA_AVX_VNNI = 3,
  MOTE_ISA_AVX512_VNNI = 4,
  MOTE_ISA_NEON = 5,
  MOTE_ISA_DOTPROD = 6,
  MOTE_ISA_I8MM = 7,
  MOTE_ISA_AVX512_BF16 = 8,
  MOTE_ISA_AMX_INT8 = 9, /* Linux is asked for AMX's tiles: alternate signal stacks then take 11 KiB more */
  MOTE_ISA_SSE = 10,     /* SSE4.1 */
  MOTE_ISA_ARMV7_NEON = 11, /* 32 bits, with VFPv4 */
  MOTE_ISA_DSP = 12,        /* Cortex-M4, M7 and M33, with an FPU */
  MOTE_ISA_HELIUM = 13      /* Cortex-M55 and M85 */
} mote_isa;

/* "avx2" and so on; "auto" for MOTE_ISA_AUTO. Never null. */
const char* mote_isa_name(mote_isa isa);
/* MOTE_ISA_AUTO and 0 for a name that is none, else 1. */
int mote_isa_from_name(const char* name, mote_isa* isa);

/* A part of parallel work; called once for each index. */
typedef void (*mote_task)(void* context, uint32_t index);

typedef struct mote_platform {
  void* user;

  /* Calls task(context, i) for each i in 0..count-1, once, some in other threads, and returns when all are
     done. No result depends on which thread runs an index, nor on their order. mote never calls it from a
     task; sessions that run at once in several threads do so at once. Null: one thread. */
  void (*parallel_for)(void* user, mote_task task, void* context, uint32_t count);
  uint32_t threads; /* that parallel_for runs at once; 0 is 1 */

  mote_isa isa;         /* kernel family to use, of sessions that leave it open */
  uint64_t reserved[4]; /* 0 */
} mote_platform;

/* The linked platform library's: posix gives one thread and the family named in the environment variable
   MOTE_ISA, if any. An unknown name there gives MOTE_ISA_UNKNOWN. */
mote_platform mote_platform_default(void);

#ifdef __cplusplus
}
#endif
#endif
