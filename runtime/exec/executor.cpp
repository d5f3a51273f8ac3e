// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/executor.h"

#include <string.h>

#include "runtime/exec/fixed_state.h"
#include "runtime/exec/fork.h"
#include "runtime/exec/global_tokens.h"
#include "runtime/exec/grids.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/passes.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

// Work below this many multiply-adds is done by the calling thread: a few microseconds, in which a second
// thread could gain one, and loses many where it has no core of its own.
constexpr uint64_t kParallelWork = 1u << 17;

bool last_pass(const Run& run) { return !kHasWholeSequences || run.end_sequence == run.sequences; }

/// Rows of the run, or of tokens and groups those of its pass, in a stream of its program.
uint32_t rows_of(const mote_session& session, uint32_t stream) {
  const Run& run = session.run;
  switch (current(session).file->streams()->Get(stream)->kind()) {
    case file::StreamKind::token:
      break;
    case file::StreamKind::selected:
      return run.selected_rows;
    case file::StreamKind::sequence:
      return run.sequences;
    case file::StreamKind::group: {
      if (!kHasWholeSequences) break;
      const uint32_t* starts = session.places.streams[stream].starts;
      return starts[run.end_sequence] - starts[run.first_sequence];
    }
  }
  return run.rows;
}

/// Threads of the run.
uint32_t run_threads(const mote_session& session) {
  if (!kHasThreads) return 1;
  return session.run.longest == 1 ? session.options.decode_threads : session.options.threads;
}

/// Rows of each lane, 0 where the run is not in lanes: a lane is for each thread that the session has.
uint32_t lane_rows(const mote_session& session) {
  if (!kHasThreads) return 0;
  const uint32_t rows = session.run.rows, threads = session.options.threads;
  if (rows / threads < session.least_lane || run_threads(session) != threads) return 0;
  return rows_of_lane(rows, threads);
}

RunRows run_rows(const mote_session& session) {
  const Run& run = session.run;
  RunRows rows{};
  rows.tokens = run.rows;
  rows.first_token = session.model->encoder ? session.starts[run.first_sequence] : 0;
  rows.first_sequence = run.first_sequence;
  rows.end_sequence = run.end_sequence;
  rows.sequences_with_rows = run.sequences_with_rows;
  rows.last_position = run.last_position;
  rows.lane_rows = lane_rows(session);
  rows.lane_bytes = session.lane_bytes;
  rows.batch = session.options.batch;
  rows.threads = run_threads(session);
  return rows;
}

/// Sets what in a step of `rows` rows depends on the run.
Extent prepare(const RunRows& run, uint32_t rows, Step* step) {
  const Extent extent{rows, rows * step->work_per_row};
  RunRows read = run;
  if (step->reads_stream != kTokens) read.lane_rows = 0;  // lanes are of tokens
  return visit_step(*step, [&](auto operation, auto& args) { return operation.prepare(args, read, extent); });
}

void finish(const Step& step) {
  if (!kHasThreads || step.merge == nullptr) return;
  visit_step(step, [&](auto operation, const auto& args) { operation.finish(args, step.merge); });
}

/// Says whether each lane ends where a sequence of an encoder does: then no lane reads keys and values of
/// another.
bool lanes_are_sequences(const mote_session& session, uint32_t of_lane) {
  if (!is_whole(*current(session).file)) return false;
  for (uint32_t row = of_lane; row < session.run.rows; row += of_lane) {
    if (session.sequences[row] == session.sequences[row - 1]) return false;
  }
  return true;
}

/// Step `index` and those after it that need not wait in lanes; returns the one after them.
uint32_t run_in_lanes(mote_session* session, const RunRows& run, uint32_t index, uint32_t end) {
  Step* steps = session->lane_steps;
  if (end - index > StealableUnits::kMostSteps) end = index + StealableUnits::kMostSteps;
  const uint32_t rows = run.tokens, lanes = (rows + run.lane_rows - 1) / run.lane_rows;
  Fork fork{session, steps, ForkKind::lanes, index, index, rows, 0, lanes, run.lane_rows, 1};
  const bool apart = lanes_are_sequences(*session, run.lane_rows);
  const auto follows = [apart](const Step& step) {
    return may_be_in_lane(step) && (apart || !step.needs_barrier);
  };
  do prepare(run, rows, &steps[fork.end++]);
  while (fork.end < end && follows(steps[fork.end]));
  run_together(&fork, 0);
  return fork.end;
}

/// Step `index` and those before `end` that are chained to it; returns the one after them.
uint32_t run_steps(mote_session* session, const RunRows& run, uint32_t index, uint32_t end) {
  const Step& first = session->steps[index];
  if (!has_positions(first.kind) && !traits_of(first.op).leaves_tokens && !last_pass(session->run))
    return index + 1;
  const bool lanes = kHasThreads && run.lane_rows != 0;
  if (lanes && may_be_in_lane(first)) return run_in_lanes(session, run, index, end);
  Step* steps = lanes ? session->lane_steps : session->steps;
  Step& step = steps[index];
  const uint32_t rows = rows_of(*session, step.stream);
  Extent extent = prepare(run, rows, &step);
  Fork fork{session, steps, fork_kind(step, rows), index, index + 1, rows, extent.units, 1, 0, 1};
  while (fork.end < end && steps[fork.end].chained) {
    extent.work += prepare(run, rows, &steps[fork.end++]).work;
  }
  if (extent.units == 0) return fork.end;
  if (kHasThreads && extent.work >= kParallelWork && extent.units <= StealableUnits::kMostUnits) {
    fork.parts = extent.units < run.threads ? extent.units : run.threads;
  }
  if (!kHasThreads || fork.parts == 1) {
    run_alone(fork);
  } else {
    run_together(&fork, extent.work);
  }
  finish(step);
  return fork.end;
}

void trace(const mote_session* session, uint32_t step) {
  const ProgramSteps& program = current(*session);
  const uint32_t index = step - program.first;
  Places places = session->places;
  set_program(*session, *program.file, &places);
  const auto* probes = program.file->probes();
  for (uint32_t i = 0; i < size_of(probes); ++i) {
    const file::Probe* probe = probes->Get(i);
    if (probe->op() != index) continue;
    ConstRows rows;
    uint32_t stream;
    if (bind_slice(*session->model, places, index, probe->value(), &rows, &stream, nullptr) != MOTE_OK)
      continue;
    session->options.trace(session->options.trace_user, probe->name()->c_str(), rows.data,
                           rows_of(*session, stream), probe->value()->width(),
                           rows.stride_bytes / sizeof(float));
  }
}

/// Returns how many of the rows that the run adds to sequence 0 are guesses.
uint32_t guessed_rows(const mote_session& session) { return kHasSpeculation ? session.run.guesses : 0; }

/// Hands the results of the run to the session, its outputs too: until here the outputs are what the arena
/// held before.
void commit(mote_session* session) {
  session->run.active = false;
  session->logit_count = session->run.outputs - guessed_rows(*session);
  session->run.selected_rows -= guessed_rows(*session);
  if (is_whole(*current(*session).file)) {
    if (session->model->sources) keep_sources(session);
    keep_memory(session);
    return;
  }
  for (uint32_t sequence = 0; sequence < session->options.batch; ++sequence) {
    if (session->added[sequence] == 0) continue;
    session->lengths[sequence] += session->added[sequence] - (sequence == 0 ? guessed_rows(*session) : 0);
    slide_pages(session, sequence);
    if (kHasFixedStates) swap_fixed_states(session, sequence);
  }
}

/// A run that is broken off leaves no pages behind.
void drop_run(mote_session* session) {
  if (!session->run.active) return;
  session->run.active = false;
  if (is_whole(*current(*session).file)) {
    if (session->model->sources) drop_sources(session);
    return;
  }
  for (uint32_t sequence = 0; sequence < session->options.batch; ++sequence) {
    if (session->added[sequence] != 0) trim_pages(session, sequence);
  }
}

}  // namespace

void begin_run(mote_session* session, uint32_t program) {
  drop_run(session);
  session->program = program;
  session->run = {};
  session->run.next_op = session->programs[program].first;
  session->run.active = true;
  memset(session->added, 0, session->options.batch * sizeof session->added[0]);
  session->logit_count = 0;
}

void add_row(mote_session* session, uint32_t sequence, int32_t id, bool wants_logits, const float* values) {
  Run& run = session->run;
  if (kHasFixedStates) link_row(session, sequence, run.rows);
  const uint32_t position = session->lengths[sequence] + session->added[sequence]++;
  if (session->added[sequence] > run.longest) run.longest = session->added[sequence];
  session->ids[run.rows] = id;
  if (session->inputs != nullptr) session->inputs[run.rows] = values;
  history_of(*session, sequence)[position] = current(*session).takes_ids ? id : kNoId;
  session->positions[run.rows] = static_cast<int32_t>(position);
  session->sequences[run.rows] = static_cast<int32_t>(sequence);
  if (position > run.last_position) run.last_position = position;
  if (wants_logits) {
    session->logit_index[run.outputs++] = static_cast<int32_t>(run.selected_rows);
    session->selected[run.selected_rows++] = run.rows;
  }
  ++run.rows;
}

void add_no_row(mote_session* session) { session->logit_index[session->run.outputs++] = -1; }

void set_input(mote_session* session, const float* values) { session->inputs[session->run.rows] = values; }

void begin_sequence(mote_session* session, uint32_t sequence, uint32_t length, uint32_t columns) {
  Run& run = session->run;
  const uint32_t first = run.rows;
  for (uint32_t i = 0; i < length; ++i) {
    session->positions[first + i] = static_cast<int32_t>(i);
    session->last_seen[first + i] = static_cast<int32_t>(length - 1);
    session->sequences[first + i] = static_cast<int32_t>(sequence);
  }
  place_behind_memory(session, sequence, first, length);
  set_grid(*session, run.sequences, length, columns);
  session->starts[run.sequences++] = first;
  session->starts[run.sequences] = first + length;
  if (length - 1 > run.last_position) run.last_position = length - 1;
}

void add_token(mote_session* session, int32_t id, int32_t token_type) {
  session->ids[session->run.rows] = id;
  session->token_types[session->run.rows++] = token_type;
}

namespace {

/// The rows of the pass that begin with its first sequence's take the place of earlier ones'.
void move_pass_to_front(mote_session* session) {
  const Run& run = session->run;
  if (run.first_sequence == 0) return;
  const uint32_t first = session->starts[run.first_sequence];
  for (int32_t* of_rows :
       {session->ids, session->positions, session->last_seen, session->token_types, session->sequences}) {
    memmove(of_rows, of_rows + first, run.rows * sizeof(int32_t));
  }
  if (session->inputs != nullptr) {
    memmove(session->inputs, session->inputs + first, run.rows * sizeof session->inputs[0]);
  }
  for (uint32_t row = 0; row < run.rows; ++row) {  // their keys and values take the place of earlier ones
    session->sequences[row] -= static_cast<int32_t>(run.first_sequence);
  }
}

/// Numbers the rows of a pass in a stream of places of pictures, whose patches are the rows of stream `of`.
void grid_rows(const mote_session& session, GridScale scale, const StreamPlace& of,
               const StreamPlace& places) {
  const Run& run = session.run;
  const auto size_of = [&](uint32_t sequence) {
    const GridSize patches = session.places.grids[sequence];
    return GridSize{scale.of(patches.lines), scale.of(patches.columns)};
  };
  places.starts[0] = 0;
  for (uint32_t s = 0; s < run.sequences; ++s)
    places.starts[s + 1] = places.starts[s] + size_of(s).lines * size_of(s).columns;
  const uint32_t first_row = of.starts[run.first_sequence];
  uint32_t row = 0;
  for (uint32_t s = run.first_sequence; s < run.end_sequence; ++s) {
    const GridSize size = size_of(s);
    const uint32_t count = size.lines * size.columns, first = of.starts[s] - first_row;
    for (uint32_t i = 0; i < count; ++i, ++row) {
      places.positions[row] = static_cast<int32_t>(i);
      places.last_seen[row] = static_cast<int32_t>(count - 1);
      places.sequences[row] = of.sequences[first];
      places.firsts[row] = edges_of_window(size, scale.times, i / (scale.times * scale.times));
    }
  }
}

/// The rows of a pass in a stream of groups of rows of stream `of`.
void group_rows(const mote_session& session, const file::Stream& stream, const StreamPlace& of,
                const StreamPlace& groups) {
  const Run& run = session.run;
  const uint32_t ratio = stream.ratio(), needs = stream.needs(), fixed = stream.fixed(),
                 parts = stream.parts();
  groups.starts[0] = 0;
  for (uint32_t s = 0; s < run.sequences; ++s) {
    const uint32_t rows = of.starts[s + 1] - of.starts[s];
    const uint32_t whole = rows < needs ? 0 : ((rows - needs) / ratio + 1) * parts;
    groups.starts[s + 1] = groups.starts[s] + (fixed != 0 ? fixed : whole);
  }
  uint32_t row = 0;
  const uint32_t first_row = of.starts[run.first_sequence];
  for (uint32_t s = run.first_sequence; s < run.end_sequence; ++s) {
    const uint32_t count = groups.starts[s + 1] - groups.starts[s], first = of.starts[s] - first_row;
    const uint32_t rows = of.starts[s + 1] - of.starts[s];
    for (uint32_t i = 0; fixed != 0 && i < rows; ++i)
      of.last_across[first + i] = static_cast<int32_t>(fixed - 1);
    for (uint32_t i = 0; i < count; ++i, ++row) {
      if (fixed != 0) groups.last_across[row] = static_cast<int32_t>(rows - 1);
      groups.positions[row] = static_cast<int32_t>(i);
      groups.last_seen[row] = static_cast<int32_t>(count - 1);
      groups.sequences[row] = of.sequences[first];
      groups.firsts[row] = first + (fixed != 0 ? 0 : i / parts * ratio);
    }
  }
  groups.firsts[row] = of.starts[run.end_sequence] - first_row;
}

void group_rows(const mote_session& session) {
  const auto& streams = *current(session).file->streams();
  const StreamPlace* places = session.places.streams;
  for (uint32_t i = 0; i < streams.size(); ++i) {
    const file::Stream* stream = streams.Get(i);
    if (stream->kind() != file::StreamKind::group) continue;
    const GridScale scale = grid_of(*current(session).file, i);
    if (scale.times != 0) {
      grid_rows(session, scale, places[stream->of()], places[i]);
    } else {
      group_rows(session, *stream, places[stream->of()], places[i]);
    }
  }
}

}  // namespace

void begin_pass(mote_session* session) {
  Run& run = session->run;
  const uint32_t* starts = session->starts;
  run.first_sequence = run.end_sequence;
  run.end_sequence = end_of_pass(starts, run.first_sequence, run.sequences, session->pass_rows);
  run.rows = starts[run.end_sequence] - starts[run.first_sequence];
  run.next_op = current(*session).first;
  if (session->model->sources) {
    hold_sources(session);
  } else {
    hold_pass(session, starts + run.first_sequence, run.end_sequence - run.first_sequence);
  }
  move_pass_to_front(session);
  find_global_tokens(session);
  group_rows(*session);
}

bool continue_run(mote_session* session, uint32_t max_ops) {
  Run& run = session->run;
  const bool tracing = kHasTraces && session->options.trace != nullptr;
  const bool one_by_one = tracing || session->maps.show != nullptr;
  for (uint32_t left = max_ops == 0 ? UINT32_MAX : max_ops;;) {
    const uint32_t last = current(*session).end, steps = last - run.next_op;
    const uint32_t end = run.next_op + (left < steps ? left : steps);
    left -= end - run.next_op;
    const RunRows rows = run_rows(*session);
    while (run.next_op < end) {
      const uint32_t op = run.next_op;
      run.next_op = run_steps(session, rows, op, one_by_one ? op + 1 : end);
      if (tracing) trace(session, op);
      if (session->maps.show != nullptr) session->maps.show(*session, op, rows.lane_rows);
    }
    if (end != last) return false;
    if (last_pass(run)) break;
    begin_pass(session);
  }
  commit(session);
  return true;
}

void end_run(mote_session* session) {
  drop_run(session);
  session->generation.active = false;
  session->logit_count = 0;
}

}  // namespace mote
