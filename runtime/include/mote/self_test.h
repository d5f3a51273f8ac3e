/* SPDX-License-Identifier: Apache-2.0 */
/* The run that a file stores, replayed, and its hashes. mote.h includes it. */
#ifndef MOTE_SELF_TEST_H_
#define MOTE_SELF_TEST_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_self_test {
  float largest_difference; /* of the logits */
  float tolerance;
  uint32_t equal_ids, ids; /* of the greedy continuation */
  uint64_t reserved[4];
} mote_self_test;

/* Replays the run stored at conversion and empties the session. MOTE_SELF_TEST_FAILED if it differs by more
   than the tolerance, MOTE_WRONG_STATE if the file has none. */
mote_status mote_session_self_test(mote_session* session, mote_self_test* result, mote_error* error);

/* Replay in bounded parts: begin computes nothing; a step does at most max_ops operations (0: all that is left)
   and sets *done with the last, when it returns what mote_session_self_test does. `result` is kept from one to
   the next. A step is MOTE_WRONG_STATE where another call has computed. */
mote_status mote_self_test_begin(mote_session* session, mote_self_test* result, mote_error* error);
mote_status mote_self_test_step(mote_session* session, mote_self_test* result, uint32_t max_ops, int* done,
                                mote_error* error);

/* Parts of an open model's file that have hashes: its tensors and, last, the tokenizer's tables; and the check
   of one of them, MOTE_CORRUPT_FILE where its bytes are not those that were written. All of them are what
   MOTE_OPEN_CHECK_HASHES checks. */
uint32_t mote_model_parts(const mote_model* model);
mote_status mote_model_check_part(const mote_model* model, uint32_t part, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
