/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a shape: a grammar's tables say which bytes may come next, a vocabulary's which bytes tokens
 * have, and a matcher holds how far an answer is. `mote grammar` compiles tables; all are used in place and
 * verified in full when they are opened. Nothing here takes a heap or locks. Several matchers may share a
 * grammar and a vocabulary; calls on one matcher must not overlap.
 *
 * A generation keeps to a grammar by mote_constraint. With a sampler of one's own mote_matcher_allow writes
 * the mask for mote_sampler_pick, and mote_matcher_accept takes what it picked.
 *
 * A matcher lies in the caller's memory without pointers to itself: a copy by memcpy, to memory as aligned,
 * goes on as the original would. */
#ifndef MOTE_GRAMMAR_H_
#define MOTE_GRAMMAR_H_

#include <stddef.h>
#include <stdint.h>

#include "mote/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mote_model;
typedef struct mote_matcher mote_matcher;

/* Tables that are open. The caller owns the struct and looks at no field; it must outlive those that take it,
   and the tables must outlive it. */
typedef struct mote_vocabulary {
  const void* tables;
  uint64_t bytes;
  const int32_t* stop_ids; /* [stop_count] ids that are allowed where an answer may end */
  uint32_t stop_count;
  uint32_t vocab;
  uint64_t reserved[2];
} mote_vocabulary;

typedef struct mote_grammar {
  const void* tables;
  uint64_t bytes;
  const mote_vocabulary* vocabulary;
  uint64_t reserved[3];
} mote_grammar;

/* Opens a vocabulary's tables, 8-byte aligned. `stop_ids` may be null where stop_count is 0. */
mote_status mote_vocabulary_open(const void* data, uint64_t bytes, const int32_t* stop_ids,
                                 uint32_t stop_count, mote_vocabulary* vocabulary, mote_error* error);

/* Opens those that a model's file has, with the model's stop ids. MOTE_UNSUPPORTED_FILE: it has none. */
mote_status mote_model_vocabulary(const struct mote_model* model, mote_vocabulary* vocabulary,
                                  mote_error* error);

/* Opens a grammar's tables, 8-byte aligned, for answers in tokens of the vocabulary. Tables with masks of
   another vocabulary: MOTE_INVALID_ARGUMENT. */
mote_status mote_grammar_open(const void* data, uint64_t bytes, const mote_vocabulary* vocabulary,
                              mote_grammar* grammar, mote_error* error);

/* Bytes of a matcher, and of what mote_matcher_allow and mote_matcher_need write. */
size_t mote_matcher_bytes(const mote_grammar* grammar);
size_t mote_matcher_scratch_bytes(const mote_grammar* grammar);

/* Makes a matcher of an empty answer in `memory`, 8-byte aligned. */
mote_status mote_matcher_init(void* memory, size_t bytes, const mote_grammar* grammar, mote_matcher** matcher,
                              mote_error* error);

/* Writes which ids may come next: bit id % 32 of word id / 32 of `mask`, [(vocab + 31) / 32]. `tokens_left`:
   tokens that the answer may still have, this one included; ids are left out after which the shortest ending
   takes more than are left then. UINT32_MAX: no limit. `scratch` is 8-byte aligned. Stop ids are allowed
   where the answer is whole. No id may come, because tokens_left is less than mote_matcher_need:
   MOTE_TOO_SMALL. */
mote_status mote_matcher_allow(const mote_matcher* matcher, uint32_t tokens_left, uint32_t* mask,
                               void* scratch, size_t scratch_bytes, mote_error* error);

/* Appends a token to the answer. An id that no answer continues with: MOTE_INVALID_ARGUMENT, and the matcher
   stays as it was. A stop id ends a whole answer. */
mote_status mote_matcher_accept(mote_matcher* matcher, int32_t id, mote_error* error);

/* Appends bytes that need not be tokens. */
mote_status mote_matcher_accept_bytes(mote_matcher* matcher, const void* text, size_t bytes,
                                      mote_error* error);

/* 1: the answer is whole as it is; 2: and nothing may follow but a stop id. */
int mote_matcher_finished(const mote_matcher* matcher);

/* Tokens of the shortest ending, 0 where the answer is whole; UINT32_MAX: tokens of the vocabulary cannot
   write it. */
mote_status mote_matcher_need(const mote_matcher* matcher, void* scratch, size_t scratch_bytes,
                              uint32_t* tokens, mote_error* error);

/* Writes the bytes that every answer goes on with, at most `capacity`; returns how many. */
size_t mote_matcher_forced(const mote_matcher* matcher, char* out, size_t capacity);

/* Text that is free up to a trigger now goes straight on to it. Where it is not free: no change. */
void mote_matcher_force_trigger(mote_matcher* matcher);
/* Tokens since the text became free; 0 where it is not. */
uint32_t mote_matcher_free_tokens(const mote_matcher* matcher);
/* 1: the answer is at text that is free. */
int mote_matcher_is_free(const mote_matcher* matcher);

/* What keeps a generation (mote_generation) to a grammar; all of it must stay valid until the generation
   ends. The generation writes the mask, accepts what it picks, and keeps as many tokens as the ending needs.
 */
typedef struct mote_constraint {
  mote_matcher* matcher;
  uint32_t* mask; /* [(vocab + 31) / 32] */
  void* scratch;
  size_t scratch_bytes;
  uint32_t free_tokens; /* of text before a trigger, then it is forced; 0: as many as it likes */
  uint32_t slides;      /* 1: the answer goes on when the context is full, whose room is not counted */
  uint64_t reserved[2];
} mote_constraint;

#ifdef __cplusplus
}
#endif
#endif
