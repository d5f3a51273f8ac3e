// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/segments.h"

#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/executor.h"

namespace mote {

void take_segments(Arena& arena, mote_session* s) {
  if (s->model->root->memory() == 0) return;
  s->segment_starts = arena.take<uint32_t>(s->options.batch);
  s->first_seen = arena.take<uint32_t>(s->options.batch);
}

void clear_segments(mote_session* s) {
  for (uint32_t i = 0; s->segment_starts != nullptr && i < s->options.batch; ++i) forget_segment(s, i);
}

uint32_t segment_start(const mote_session& s, uint32_t sequence) {
  return s.segment_starts == nullptr ? 0 : s.segment_starts[sequence];
}

void forget_segment(mote_session* s, uint32_t sequence) {
  if (s->segment_starts == nullptr) return;
  s->segment_starts[sequence] = s->first_seen[sequence] = 0;
}

void copy_segment(mote_session* s, uint32_t from, uint32_t to) {
  if (s->segment_starts == nullptr) return;
  s->segment_starts[to] = s->segment_starts[from];
  s->first_seen[to] = s->first_seen[from];
}

void reorder_segments(mote_session* s, const uint32_t* from) {
  if (s->segment_starts == nullptr) return;
  const uint32_t batch = s->options.batch;
  uint32_t* const old = s->asked;  // no run needs what it holds
  for (uint32_t* values : {s->segment_starts, s->first_seen}) {
    memcpy(old, values, batch * sizeof old[0]);
    for (uint32_t i = 0; i < batch; ++i) values[i] = old[from[i]];
  }
}

uint32_t find_further_segment(const mote_session& s) {
  if (s.segment_starts == nullptr) return s.options.batch;
  uint32_t i = 0;
  while (i < s.options.batch && s.segment_starts[i] == 0) ++i;
  return i;
}

}  // namespace mote

using mote::fail;

extern "C" {

uint32_t mote_model_memory(const mote_model* model) { return model->root->memory(); }

mote_status mote_session_begin_segment(mote_session* session, uint32_t sequence, mote_error* error) {
  if (sequence >= session->options.batch)
    return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " of ", session->options.batch);
  const uint32_t memory = session->model->root->memory();
  if (memory == 0) return fail(error, MOTE_WRONG_STATE, "the model has no memory of segments");
  mote::end_run(session);
  const uint32_t start = session->lengths[sequence];
  session->segment_starts[sequence] = start;
  session->first_seen[sequence] = start > memory ? start - memory : 0;
  return MOTE_OK;
}

}  // extern "C"
