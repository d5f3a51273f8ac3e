// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/history.h"

#include <string.h>

namespace mote {

void take_history(Arena& arena, mote_session* s) {
  const uint64_t batch = s->model->encoder ? 0 : s->options.batch;
  s->history = arena.take<int32_t>(batch * s->options.context);
  s->history_rows = arena.take<uint32_t>(batch);
}

void clear_history(mote_session* s) {
  if (s->model->encoder) return;
  for (uint32_t i = 0; i < s->options.batch; ++i) s->history_rows[i] = i;
}

void copy_history(mote_session* s, uint32_t from, uint32_t to) {
  if (from == to) return;
  memcpy(history_of(*s, to), history_of(*s, from), s->lengths[from] * sizeof(int32_t));
}

void reorder_history(mote_session* s, const uint32_t* from) {
  const uint32_t batch = s->options.batch;
  uint32_t* taken = s->asked;  // by row of the table
  uint32_t* rows = s->added;   // the new ones, by sequence; no run needs what it holds
  memset(taken, 0, batch * sizeof taken[0]);
  for (uint32_t i = 0; i < batch; ++i) ++taken[s->history_rows[from[i]]];
  // The last of the sequences that are copies of one takes its row, the others rows that nobody wants.
  uint32_t unused = 0;
  for (uint32_t i = 0; i < batch; ++i) {
    const uint32_t row = s->history_rows[from[i]];
    rows[i] = row;
    if (--taken[row] == 0) {
      taken[row] = batch;  // not unused any more
      continue;
    }
    while (taken[unused] != 0) ++unused;
    rows[i] = unused;
    taken[unused] = batch;
    memcpy(s->history + uint64_t{unused} * s->options.context,
           s->history + uint64_t{row} * s->options.context, s->lengths[from[i]] * sizeof(int32_t));
  }
  memcpy(s->history_rows, rows, batch * sizeof rows[0]);
}

void see_history(mote_session* s, uint32_t sequence) {
  const uint32_t length = s->lengths[sequence];
  const uint32_t first = length < MOTE_REPETITION_WINDOW ? 0 : length - MOTE_REPETITION_WINDOW;
  const int32_t* ids = history_of(*s, sequence);
  for (uint32_t i = first; i < length; ++i) {
    if (ids[i] != kNoId) sampler_see(&s->sampler, ids[i]);
  }
}

}  // namespace mote
