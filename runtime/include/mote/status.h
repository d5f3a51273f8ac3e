/* SPDX-License-Identifier: Apache-2.0 */
/* The codes that calls return. Codes are grouped by cause and only ever appended. */
#ifndef MOTE_STATUS_H_
#define MOTE_STATUS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mote_status {
  MOTE_OK = 0,

  /* The caller: */
  MOTE_INVALID_ARGUMENT = 1, /* a null pointer, a size or an option out of range */
  MOTE_NOT_ALIGNED = 2,      /* the file or the arena is not 64-byte aligned */
  MOTE_TOO_SMALL = 3,        /* storage, arena or output buffer; the error says how many bytes it takes */
  MOTE_CONTEXT_FULL = 4,     /* the sequence would exceed the session's context */
  MOTE_WRONG_STATE = 5,      /* a call out of order, such as logits before any token */

  MOTE_TEXT_TOO_LONG = 6, /* a word takes more than the session's text_bytes */

  /* The file: */
  MOTE_TRUNCATED = 16,        /* fewer bytes than the file says it has */
  MOTE_NOT_A_MODEL = 17,      /* not a .mote file */
  MOTE_CORRUPT_FILE = 18,     /* the metadata contradicts itself or a hash differs */
  MOTE_UNSUPPORTED_FILE = 19, /* made by a newer version, or needs an operation that this build lacks */
  MOTE_SELF_TEST_FAILED = 20, /* the model's stored results are not reproduced */

  /* The machine: */
  MOTE_UNSUPPORTED_ISA = 32, /* the requested kernel family is not available here */

  /* A snapshot: */
  MOTE_WRONG_SNAPSHOT = 48, /* of another model, kernel family or cache layout, or damaged */

  /* Codes that calls of mote/host.h alone return: */
  MOTE_CANCELLED = 64,     /* the caller ended the task */
  MOTE_OUT_OF_MEMORY = 65, /* the sentence says how much it takes */
  MOTE_BAD_INPUT = 66      /* a file, sound, picture or text that cannot be read */
} mote_status;

/* Filled by calls that fail; may be null. `op` is the index of the operation concerned, or -1. */
typedef struct mote_error {
  mote_status code;
  int32_t op;
  char text[160];
} mote_error;

/* "context full", for messages; never null. */
const char* mote_status_name(mote_status status);

#ifdef __cplusplus
}
#endif
#endif
