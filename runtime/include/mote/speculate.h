/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses of the tokens that a generation picks next. A generation that has them (mote_generation, or
 * mote_beam_options with one beam) computes some in one run with the token that they follow, since a row more
 * costs little where weights are read anyway, and keeps those that it then picks itself, with its own random
 * numbers: speculative decoding (Leviathan et al. 2023) whose ids are the same as without guesses, not only
 * as likely. Between any two ids the session is, to the bit, what it would be without guesses.
 *
 * Guesses are offered by the caller, or looked up: what followed the last tokens when they were there before
 * (prompt lookup, Saxena 2023). They lie in the caller's memory; calls take no heap and no locks. One
 * mote_speculation serves one generation at a time. */
#ifndef MOTE_SPECULATE_H_
#define MOTE_SPECULATE_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_speculation mote_speculation;

#define MOTE_MOST_GUESSES 32

typedef struct mote_speculation_options {
  uint32_t most;   /* guesses in a run, 1 to MOTE_MOST_GUESSES */
  uint32_t match;  /* tokens in a row that have to be there again for what followed them to be a guess, 1 to
                      16; 0: nothing is looked up */
  uint32_t places; /* in the table of where tokens were before, a power of two from 4 to 2^24; the oldest give
                      way. Not used where match is 0 */
  uint32_t unused;
  uint64_t reserved[4]; /* 0 */
} mote_speculation_options;

/* 8 guesses, 2 tokens that match, 8192 places. */
mote_speculation_options mote_speculation_options_default(void);

/* Bytes of memory for these options, 4 for each place and about 400; 0 for options that are not valid. */
size_t mote_speculation_bytes(const mote_speculation_options* options);

/* Makes guesses of nothing yet in `memory`, 8-byte aligned. */
mote_status mote_speculation_init(void* memory, size_t bytes, const mote_speculation_options* options,
                                  mote_speculation** speculation, mote_error* error);

/* From the next run on at most n guesses are computed with a token, never more than the options' `most`. 0:
 * guesses are only compared with what is picked (mote_speculation_counts). */
void mote_speculation_limit(mote_speculation* speculation, uint32_t n);

/* Offers n guesses, at most the options' `most`, of the tokens behind the one that was reported last. The
 * next run takes them in place of what it would look up. Ids that the vocabulary lacks end them. */
mote_status mote_speculation_offer(mote_speculation* speculation, const int32_t* ids, uint32_t n,
                                   mote_error* error);

/* Takes up n ids that come before those of the sequence when guesses are looked up, in place of earlier ones:
 * the source of a summary, parts of which it repeats. They must stay valid as long as the guesses are used.
 * What was looked up in before is forgotten. */
void mote_speculation_precede(mote_speculation* speculation, const int32_t* ids, uint32_t n);

/* Writes to `ids`, room for the options' `most`, what the next run would look up behind the token `last`,
 * which was reported last and is not computed. Returns how many. A caller that has other guesses too can
 * choose between them. */
uint32_t mote_speculation_look_up(mote_speculation* speculation, const mote_session* session, int32_t last,
                                  int32_t* ids);

/* Counts since mote_speculation_init. */
typedef struct mote_speculation_counts {
  uint64_t runs;    /* for tokens of generations, prompts aside */
  uint64_t rows;    /* of them: a token and its guesses */
  uint64_t guessed; /* rows of guesses */
  uint64_t stood;   /* of them, those whose token was picked */
  uint64_t right;   /* picked tokens that were guessed next, computed or not */
  uint64_t wrong;   /* picked tokens where another was guessed next */
  uint64_t reserved[2];
} mote_speculation_counts;
void mote_speculation_get_counts(const mote_speculation* speculation, mote_speculation_counts* counts);

/* Returns a sentence, zero-terminated and static, saying why generations of the session compute no guesses,
 * or null where they do. A session needs room for them: logit_rows and chunk of 1 more than guesses. */
const char* mote_speculation_hindrance(const mote_session* session);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_SPECULATE_H_ */
