// SPDX-License-Identifier: Apache-2.0
//
// Keys and values of earlier runs of an encoder's sequences (State.memory in schema/mote.fbs): those of the
// last tokens lie at positions 0 and on of the sequence, those of a run behind them.
#pragma once

#include "runtime/exec/arena.h"
#include "runtime/exec/session.h"

namespace mote {

/// Positions of earlier runs that the model's states keep at most; 0: it has no memory.
uint32_t memory_of(const mote_model& model);

/// Keys and values at positions `dropped` and on of the sequence move to 0 and on; `count` are left.
void move_to_front(const KvCacheView& cache, DType dtype, uint32_t sequence, uint32_t dropped,
                   uint32_t count);

void take_memory(Arena& arena, mote_session* session);

/// Before the sequences of a run begin; without `continues` they have no memory.
void begin_memory(mote_session* session, bool continues);

/// Rows first..first + length - 1 of the run are the sequence's.
void place_behind_memory(mote_session* session, uint32_t sequence, uint32_t first, uint32_t length);

/// After the run: its tokens become the memory of its sequences, the oldest are dropped.
void keep_memory(mote_session* session);

}  // namespace mote
