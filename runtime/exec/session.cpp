// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/session.h"

#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/chain.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/fixed_state.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/segments.h"
#include "runtime/exec/session_options.h"
#include "runtime/exec/written.h"

namespace mote {
namespace {

/// The steps of a program, `steps` being its first.
mote_status bind_steps(const mote_session& s, const Places& places, Step* steps, mote_error* error) {
  const uint32_t count = places.program->ops()->size();
  for (uint32_t i = 0; i < count; ++i) {
    const mote_status status = bind(*s.model, places, i, &steps[i], error);
    if (status != MOTE_OK) return status;
  }
  chain_steps(places, steps, count);
  return MOTE_OK;
}

// Out of line: its places are not to be on a small stack while the session is laid out.
[[gnu::noinline]] mote_status bind_program(mote_session* s, ProgramSteps* program, mote_error* error) {
  set_program(*s, *program->file, &s->places);
  const uint32_t count = program->end - program->first;
  mote_status status = bind_steps(*s, s->places, s->steps + program->first, error);
  if (status == MOTE_OK && kProvesWrites) status = check_written(*s->model, s->places, error);
  if (status == MOTE_OK && kHasThreads && s->least_lane != UINT32_MAX) {
    Places first_lane = s->places;
    first_lane.streams[kTokens].rows = rows_of_lane(s->places.streams[kTokens].rows, s->options.threads);
    status = bind_steps(*s, first_lane, s->lane_steps + program->first, error);
    if (status == MOTE_OK) part_steps(s->lane_steps + program->first, count);
  }
  if (status != MOTE_OK) return status;
  uint32_t stream;
  return bind_slice(*s->model, s->places, count - 1, program->file->output(), &program->outputs, &stream,
                    error);
}

mote_status bind_all(mote_session* s, mote_error* error) {
  Places& places = s->places;  // whose streams have their places
  places.finds_kernels = true;
  places.isa = s->isa;
  places.kv_dtype = s->kv_dtype;
  places.backend = s->options.backend;
  places.ids = s->ids;
  places.token_types = s->token_types;
  places.next_global = s->next_global;
  places.memory_positions = s->memory_positions;
  places.memory_last = s->memory_last;
  places.inputs = s->inputs;
  places.selected = s->selected;
  places.caches = s->caches;
  places.pools = s->pools;
  places.pool_of = s->pool_of;
  places.partials = s->partials;
  places.first_seen = s->first_seen;
  places.fixed_states = s->fixed.views;
  places.by_sequence = {s->fixed.sequences, s->fixed.first, s->fixed.next, s->positions};
  for (uint32_t i = 0; i < s->model->root->programs()->size(); ++i) {
    const mote_status status = bind_program(s, &s->programs[i], error);
    if (status != MOTE_OK) return status;
  }
  return MOTE_OK;
}

}  // namespace

const float* next_token_logits(const mote_session& session, uint32_t row) {
  return is_whole(*current(session).file) ? nullptr : mote_session_output(&session, row);
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_status mote_session_memory(const mote_model* model, const mote_session_options* options,
                                mote_memory* memory, mote_error* error) {
  mote_session session{};
  const mote_status status = mote::resolve_options(model, options, &session, error);
  if (status != MOTE_OK) return status;
  uint64_t bytes;
  return mote::count_bytes(&session, memory, &bytes, error);
}

size_t mote_session_bytes(const mote_model* model, const mote_session_options* options) {
  mote_memory memory;
  if (mote_session_memory(model, options, &memory, nullptr) != MOTE_OK) return 0;
  return static_cast<size_t>(memory.session + memory.activations + memory.scratch + memory.kv_cache +
                             memory.states + memory.sampler + memory.text);
}

mote_status mote_session_init(const mote_model* model, const mote_session_options* options, void* arena,
                              size_t arena_bytes, mote_session** session, mote_error* error) {
  if (arena == nullptr || session == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(arena) % MOTE_ALIGNMENT != 0) {
    return fail(error, MOTE_NOT_ALIGNED, "the arena must be 64-byte aligned");
  }
  mote_session fresh{};
  mote_status status = mote::resolve_options(model, options, &fresh, error);
  if (status != MOTE_OK) return status;
  mote_memory memory;
  uint64_t bytes;
  status = mote::count_bytes(&fresh, &memory, &bytes, error);
  if (status != MOTE_OK) return status;
  if (arena_bytes < bytes) {
    return fail(error, MOTE_TOO_SMALL, "the arena has ", uint64_t{arena_bytes}, " bytes, these options take ",
                bytes);
  }
  mote::Arena parts(arena, bytes);
  status = mote::lay_out(parts, &fresh, &memory, error);
  if (status == MOTE_OK) status = mote::bind_all(&fresh, error);
  if (status != MOTE_OK) return status;
  memset(fresh.lengths, 0, sizeof(uint32_t) * fresh.options.batch);
  mote::clear_pages(&fresh);
  mote::clear_history(&fresh);
  mote::clear_segments(&fresh);
  fresh.sampler.vocab = model->root->vocab();
  if (!model->encoder) mote::sampler_start(&fresh.sampler, mote_sampling_default());
  *session = static_cast<mote_session*>(arena);
  **session = fresh;
  return MOTE_OK;
}

mote_isa mote_session_isa(const mote_session* session) { return session->options.isa; }

uint32_t mote_session_length(const mote_session* session, uint32_t sequence) {
  return sequence < session->options.batch ? session->lengths[sequence] : 0;
}

const int32_t* mote_session_ids(const mote_session* session, uint32_t sequence) {
  return sequence < session->options.batch ? mote::history_of(*session, sequence) : nullptr;
}

const float* mote_session_logits(const mote_session* session, uint32_t row) {
  return session->model->sources ? mote::next_token_logits(*session, row) : mote_session_output(session, row);
}

const float* mote_session_output(const mote_session* session, uint32_t row) {
  if (row >= session->logit_count || session->logit_index[row] < 0) return nullptr;
  return mote::current(*session).outputs[static_cast<size_t>(session->logit_index[row])];
}

mote_status mote_session_truncate(mote_session* session, uint32_t sequence, uint32_t length,
                                  mote_error* error) {
  if (sequence >= session->options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " of ", session->options.batch);
  }
  const uint32_t present = session->lengths[sequence];
  if (length > present)
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate ", present, " tokens to ", length);
  const char* kind = mote::kind_without_past(*session->model->root);
  if (kind != nullptr && length != 0 && length != present) {
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate ", present, " tokens to ", length,
                ": a state of kind ", kind, " keeps no earlier tokens; truncate to 0");
  }
  const uint32_t segment = mote::segment_start(*session, sequence);
  if (length != 0 && length < segment) {
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate to ", length, ": the segment begins at ",
                segment, "; truncate to 0");
  }
  if (length != 0 && length < mote_session_shortest(session, sequence)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate to ", length,
                ": the sliding window has dropped earlier tokens; truncate to 0 or by less than ",
                mote::kRollback);
  }
  mote::end_run(session);
  if (length == 0) mote::forget_segment(session, sequence);
  session->lengths[sequence] = length;
  mote::trim_pages(session, sequence);
  return MOTE_OK;
}

uint32_t mote_session_shortest(const mote_session* session, uint32_t sequence) {
  const uint32_t length = mote_session_length(session, sequence);
  if (length == 0 || mote::kind_without_past(*session->model->root) != nullptr) return length;
  const uint32_t kept = mote::shortest_kv(session, sequence),
                 segment = mote::segment_start(*session, sequence);
  return kept > segment ? kept : segment;
}

mote_status mote_session_fork(mote_session* session, uint32_t from, uint32_t to, mote_error* error) {
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  if (from >= session->options.batch || to >= session->options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, "sequences ", from, " and ", to, " of ",
                session->options.batch);
  }
  mote::end_run(session);
  mote::copy_history(session, from, to);
  mote::copy_segment(session, from, to);
  mote::copy_fixed_states(session, from, to);
  mote::copy_sequence(session, from, to);
  return MOTE_OK;
}

mote_status mote_session_reorder(mote_session* session, const uint32_t* from, mote_error* error) {
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  const uint32_t batch = session->options.batch;
  for (uint32_t i = 0; from == nullptr || i < batch; ++i) {
    if (from == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
    if (from[i] >= batch) return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", from[i], " of ", batch);
  }
  mote::end_run(session);
  mote::reorder_history(session, from);
  mote::reorder_segments(session, from);
  mote::reorder_fixed_states(session, from);
  mote::reorder_sequences(session, from);
  return MOTE_OK;
}

uint32_t mote_session_free_positions(const mote_session* session) {
  uint64_t least = UINT32_MAX;
  for (uint32_t p = 0; p < session->pool_count; ++p) {
    const mote::PagePool& pool = session->pools[p];
    if (pool.kind.source != -1 || (pool.kind.of_run && !session->model->encoder)) continue;
    const uint64_t positions = uint64_t{pool.free_count} * pool.page_positions;
    if (positions < least) least = positions;
  }
  return static_cast<uint32_t>(least);
}

}  // extern "C"
