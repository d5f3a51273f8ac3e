/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling and generation. mote.h includes it. */
#ifndef MOTE_GENERATION_H_
#define MOTE_GENERATION_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_sampling {
  float temperature;          /* 0: greedy, the lowest id among equals */
  uint32_t top_k;             /* 0: all */
  float top_p;                /* 1: all */
  float min_p;                /* 0: all; tokens less likely than min_p times the likeliest are dropped */
  float repetition_penalty;   /* 1: none (Keskar et al. 2019), over the last repetition_window tokens */
  uint32_t repetition_window; /* 0 to MOTE_REPETITION_WINDOW */
  uint64_t seed;
  uint64_t reserved[4]; /* 0 */
} mote_sampling;

#define MOTE_REPETITION_WINDOW 256

/* Greedy. */
mote_sampling mote_sampling_default(void);

/* Restarts the random sequence and forgets the repetition window; also done by mote_generation_begin, whose
   window then has the ids that sequence 0 holds, computed, reused or restored, and the prompt. */
mote_status mote_sample_begin(mote_session* session, const mote_sampling* sampling, mote_error* error);

/* Picks an id from row `row` of the logits. NaN logits are never picked; all NaN: id 0. The session's own
 * sampler picks. */
mote_status mote_sample(mote_session* session, uint32_t row, int32_t* id, mote_error* error);

/* Rules that change the logits before all sampling, in this order, as transformers' generate does: they
   forbid ids and make repeated ones less likely. Tokens are all that the sequence has, those of the prompt
   and of earlier calls among them. Zeros are no rules. */
typedef struct mote_token_rules {
  float repetition_penalty; /* as that of mote_sampling, of all tokens; 0 and 1: none */
  uint32_t no_repeat_ngram; /* n: no n tokens in a row are twice in the sequence */
  const int32_t*
      forbidden; /* sequences that are never completed: each its number of ids, 1 or more, then them */
  uint32_t forbidden_count;  /* of all numbers in it */
  uint32_t shortest;         /* no stop id comes before the sequence has so many tokens */
  uint32_t min_tokens;       /* no stop id is among so many first tokens of the generation */
  uint32_t suppressed_count; /* of tokens that are never chosen */
  const int32_t* suppressed_ids;
  const int32_t* first_suppressed_ids; /* tokens that are never chosen first */
  uint32_t first_suppressed_count;
  uint32_t reserved_count; /* 0 */
  uint64_t reserved[4];    /* 0 */
} mote_token_rules;

/* Return the options that the model's authors generate with: greedy where they do not sample, no rules where
   the file has none. Pointers are into the file. */
mote_sampling mote_model_sampling(const mote_model* model);
mote_token_rules mote_model_token_rules(const mote_model* model);

typedef struct mote_generation {
  mote_sampling sampling;
  uint32_t max_tokens;     /* 0: until the context is full */
  const int32_t* stop_ids; /* in addition to the model's; must stay valid until the generation ends */
  uint32_t stop_count;
  int ignore_model_stops;           /* 1: only stop_ids stop */
  const mote_token_rules* rules;    /* null: none; must stay valid until the generation ends */
  struct mote_speculation* guesses; /* of mote/speculate.h; null: none; must stay valid until the generation
                                       ends */
  /* Keeps the answer to a grammar (mote/grammar.h), null: none. Then MOTE_TOO_SMALL: the shortest answer takes
     more tokens than max_tokens or the context leave, and nothing is generated. The generation stops where
     nothing may follow. Must stay valid until the generation ends. */
  const struct mote_constraint* constraint;
  uint64_t reserved[1]; /* 0 */
} mote_generation;

mote_generation mote_generation_default(void);

typedef enum mote_finish {
  MOTE_FINISH_NONE = 0,
  MOTE_FINISH_LENGTH = 1,
  MOTE_FINISH_STOP = 2,
  MOTE_FINISH_CONTEXT = 3,
  MOTE_FINISH_CANCELLED = 4
} mote_finish;

/* The result of a step: has_token says whether `id` is a new token; finish != NONE ends the generation. A
   stop id is reported as a token too, with finish STOP. */
typedef struct mote_event {
  int has_token;
  int32_t id;
  mote_finish finish;
  uint32_t reserved[5];
} mote_event;

/* Starts a generation on sequence 0 after its present tokens: n >= 0 further prompt ids (copied never: they
   must stay valid until prefilled; n 0 needs logits of an earlier call). */
mote_status mote_generation_begin(mote_session* session, const int32_t* ids, uint32_t n,
                                  const mote_generation* generation, mote_error* error);

/* Does a bounded part of the work: at most max_ops operations of the model's program (0: up to the next
   token). A single-threaded loop calls it again and again and stays responsive. Other calls that compute end
   the generation. */
mote_status mote_session_step(mote_session* session, uint32_t max_ops, mote_event* event, mote_error* error);

/* Returns nonzero to stop. */
typedef int (*mote_on_token)(void* user, int32_t id);

/* mote_generation_begin and steps to the end. The sequence then holds the prompt and every reported token but
   the last. `finish` may be null. */
mote_status mote_generate(mote_session* session, const int32_t* ids, uint32_t n,
                          const mote_generation* generation, mote_on_token on_token, void* user,
                          mote_finish* finish, mote_error* error);

#ifdef __cplusplus
}
#endif
#endif
