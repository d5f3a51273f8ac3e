/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers of the caller's own: one for each sequence. A sampler knows the tokens of its sequence, picks the
 * next one from a row of logits, and takes tokens back. It lies in the caller's memory without pointers to
 * itself: a copy by memcpy, to memory as aligned, goes on as the original would. Its calls take no heap and
 * no locks; those on one sampler must not overlap, picks and questions may.
 *
 * Logits change in this order: the rules (mote_token_rules), the biases, the repetition penalty, the
 * frequency and presence penalties, the mask; then temperature, top-k, top-p and min-p choose
 * (mote_sampling). With equal sampling and rules, a sampler picks what mote_sample and a generation pick. */
#ifndef MOTE_SAMPLER_H_
#define MOTE_SAMPLER_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_sampler mote_sampler;

/* A token and its logit, or the logarithm of its probability. */
typedef struct mote_candidate {
  float score;
  int32_t id;
} mote_candidate;

typedef struct mote_logit_bias {
  int32_t id;
  float bias; /* added to the token's logit; -INFINITY: it is never picked while another can be */
} mote_logit_bias;

typedef struct mote_sampler_options {
  mote_sampling sampling;
  mote_token_rules rules;  /* zeros: none. Their lists must stay valid, as those below */
  float frequency_penalty; /* taken off a token's logit each time that the generation has it */
  float presence_penalty;  /* taken off once of each token that the generation has */
  const mote_logit_bias* biases;
  uint32_t bias_count;
  uint32_t stop_count;
  const int32_t* stop_ids; /* that the rules' `shortest` and `min_tokens` put off */
  uint32_t vocab;          /* logits of a row */
  uint32_t capacity;       /* tokens of the sequence that there is room for */
  uint64_t reserved[4];    /* 0 */
} mote_sampler_options;

/* Greedy, without rules; the model's vocabulary, stop ids and context. */
mote_sampler_options mote_sampler_options_default(const mote_model* model);

/* Bytes of a sampler with room for so many tokens. */
size_t mote_sampler_bytes(uint32_t capacity);

/* Makes a sampler of an empty sequence in `memory`, 8-byte aligned. */
mote_status mote_sampler_init(void* memory, size_t bytes, const mote_sampler_options* options,
                              mote_sampler** sampler, mote_error* error);

/* Appends tokens that the sampler did not pick, [n]: a prompt. -1 stands for one that was given as floats. A
 * generation begins behind them. */
mote_status mote_sampler_see(mote_sampler* sampler, const int32_t* ids, uint32_t n, mote_error* error);

/* Picks a token from `logits`, [vocab]. Bit id % 32 of word id / 32 of `mask`, [(vocab + 31) / 32], allows an
 * id; a null mask allows all. `scratch`, [vocab], is written. The sampler stays as it is: the same call gives
 * the same id again. NaN logits are never picked; all NaN: id 0, or the first that the mask allows. A mask
 * that allows none: MOTE_INVALID_ARGUMENT. */
mote_status mote_sampler_pick(const mote_sampler* sampler, const float* logits, const uint32_t* mask,
                              mote_candidate* scratch, int32_t* id, mote_error* error);

/* Appends a token of the generation, whether the sampler picked it or not. The next pick takes the next
 * random number. Full: MOTE_TOO_SMALL. */
mote_status mote_sampler_accept(mote_sampler* sampler, int32_t id, mote_error* error);

/* Takes the last n tokens back. The sampler is what it was before them, its random numbers too. */
mote_status mote_sampler_undo(mote_sampler* sampler, uint32_t n, mote_error* error);

/* Tokens of the sequence, and of the generation at its end. */
uint32_t mote_sampler_length(const mote_sampler* sampler);
uint32_t mote_sampler_generated(const mote_sampler* sampler);

/* The logarithm of the softmax of `logits`, [vocab], at an id, as the model gave them. NaN logits have no
 * part of it. -INFINITY: the id is none, or its logit NaN. */
float mote_log_probability(const float* logits, uint32_t vocab, int32_t id);

/* Writes the n likeliest tokens, [n], the likelier first, of equals the lower id, with the logarithms of
 * their probabilities. Returns how many there are: fewer where the vocabulary has no more that are not NaN.
 */
uint32_t mote_likeliest(const float* logits, uint32_t vocab, mote_candidate* best, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_SAMPLER_H_ */
