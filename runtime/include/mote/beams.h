/* SPDX-License-Identifier: Apache-2.0 */
/* Beam search over the sequences of a session. */
#ifndef MOTE_BEAMS_H_
#define MOTE_BEAMS_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When the search ends before all beams have. Scores are a hypothesis' sum of log-probabilities, divided by
   its number of tokens to the power of length_penalty. */
typedef enum mote_beam_stop {
  MOTE_STOP_AT_GUESS = 0, /* no beam would be better than the worst of the hypotheses if it ended now */
  MOTE_STOP_EARLY = 1,    /* there are as many hypotheses as beams */
  MOTE_STOP_NEVER = 2 /* as AT_GUESS, but with a positive length_penalty as if beams were max_tokens long */
} mote_beam_stop;

typedef struct mote_beam_options {
  uint32_t beams;      /* at most the session's batch, and 256 */
  uint32_t max_tokens; /* of a hypothesis, 1 to the context; there must be room for them */
  float length_penalty;
  mote_beam_stop early_stopping;
  const int32_t* stop_ids; /* in addition to the model's */
  uint32_t stop_count;
  int ignore_model_stops;        /* 1: only stop_ids stop */
  const int32_t* suppressed_ids; /* tokens that are never chosen */
  uint32_t suppressed_count;
  int32_t forced_first_id;  /* the first token, -1: any */
  int32_t forced_last_id;   /* the token at max_tokens, -1: any */
  uint32_t unused;          /* not read */
  uint32_t min_tokens;      /* no stop id is among so many first tokens */
  uint32_t no_repeat_ngram; /* n: no n tokens in a row are twice in a sequence; 0: they may be */
  /* Log-probabilities of tokens that a sequence has are multiplied by it, logits where there is one beam,
     which is a greedy search, and are divided by it where they are positive. 0 and 1: none. */
  float repetition_penalty;
  struct mote_speculation* guesses; /* of mote/speculate.h, for one beam, null: none; not read where there are
                                       more. Must stay valid until the search is done */
  uint64_t reserved[1];             /* 0 */
} mote_beam_options;

/* One beam, a length penalty of 1, nothing forced; max_tokens is to be set. */
mote_beam_options mote_beam_options_default(void);

/* Returns the options that the model's authors search with, one beam where the file says nothing. max_tokens
   is 0 where the authors give no number. Pointers are into the file. One beam with MOTE_STOP_EARLY is a
   greedy search. */
mote_beam_options mote_model_beam_options(const mote_model* model);

/* Bytes that a search takes, 0 if the options are invalid. */
size_t mote_beam_bytes(const mote_session* session, const mote_beam_options* options);

typedef struct mote_beam {
  const int32_t* ids; /* [count], the stop id included; in the search's memory */
  uint32_t count;     /* 0: none was found */
  float score;
} mote_beam;

/* Goes on from the logits of row 0, which are of sequence 0, and writes the best hypotheses, [beams] in
   descending order. Sequences 0 to beams - 1 hold the beams, which share the pages of what they have in
   common; what the others than 0 had is dropped. `memory` is 8-byte aligned. */
mote_status mote_beam_search(mote_session* session, const mote_beam_options* options, void* memory,
                             size_t memory_bytes, mote_beam* beams, mote_error* error);

/* Search as mote_beam_search does, in bounded parts: begin computes nothing; a step does at most max_ops
   operations of the model's program, or chooses among the continuations of one beam, and sets *done when the
   hypotheses are there (max_ops 0: all that is left). result writes them. The run lies in `memory`, and the
   options' ids must stay valid until it is done. Other calls that compute end the search: its next step is
   then MOTE_WRONG_STATE. */
typedef struct mote_beam_run mote_beam_run;
mote_status mote_beam_begin(mote_session* session, const mote_beam_options* options, void* memory,
                            size_t memory_bytes, mote_beam_run** run, mote_error* error);
mote_status mote_beam_step(mote_beam_run* run, uint32_t max_ops, int* done, mote_error* error);
mote_status mote_beam_result(const mote_beam_run* run, mote_beam* beams, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
