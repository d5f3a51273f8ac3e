/* SPDX-License-Identifier: Apache-2.0 */
/* Attention maps: the share of its output that a row takes from each position. They are computed once more,
 * by the reference arithmetic over the keys of the session, so runs that are watched are slow. */
#ifndef MOTE_ATTENTION_H_
#define MOTE_ATTENTION_H_

#include "mote/mote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The probabilities of positions 0 to keys - 1, for the token of a row of the run and one head of operation
 * `op` of a program. Positions that the row does not see have 0. They add up to 1, with sinks to less. */
typedef struct mote_attention_row {
  uint32_t program, op, row, head, heads;
  uint32_t keys;
  uint32_t crosses;           /* 1: the positions are those of a source */
  const float* probabilities; /* [keys], valid during the call */
} mote_attention_row;

typedef void (*mote_attention_fn)(void* user, const mote_attention_row* row);

/* Floats of room that watching takes: the most positions of a sequence or of a source. */
uint32_t mote_attention_room(const mote_session* session);

/* Calls `take` for each row and head of each attention of all runs from now on, in the order of operations;
 * null ends that. `room`, [mote_attention_room], must stay valid. The session must have a trace and keep its
 * keys in f32 (MOTE_KV_F32). */
mote_status mote_session_watch_attention(mote_session* session, mote_attention_fn take, void* user,
                                         float* room, uint32_t room_count, mote_error* error);

/* A head of an attention over a source: `layer` counts those of a program from 0. */
typedef struct mote_watched_head {
  uint32_t layer, head;
} mote_watched_head;

/* Returns how many heads that attention of the first program has; 0: there is none. */
uint32_t mote_model_source_heads(const mote_model* model, uint32_t layer);

/* Floats of room that watching such heads takes: a source's positions and the keys of one head. 0: the model
 * has no source. */
uint32_t mote_watched_heads_room(const mote_session* session);

/* Calls `take` for each row of these heads in all runs from now on, a head after the other, in place of what
 * was watched; null ends that. It needs no trace and any keys, and its work is that of the heads alone. Heads
 * that the model lacks are not shown. `heads`, [count], and `room`, [mote_watched_heads_room], must stay
 * valid. MOTE_WRONG_STATE: the model has no source, or its attention is no softmax of scaled products. */
mote_status mote_session_watch_heads(mote_session* session, const mote_watched_head* heads, uint32_t count,
                                     mote_attention_fn take, void* user, float* room, uint32_t room_count,
                                     mote_error* error);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_ATTENTION_H_ */
