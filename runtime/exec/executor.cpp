// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/executor.h"

#include <string.h>

#include "runtime/exec/fork.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/passes.h"

namespace mote {
namespace {

// Work below this many multiply-adds is done by the calling thread: a few microseconds, in which a second
// thread could gain one, and loses many where it has no core of its own.
constexpr uint64_t kParallelWork = 1u << 17;

bool last_pass(const Run& run) { return run.end_sequence == run.sequences; }

uint32_t rows_of(const Run& run, file::RowUnit unit) {
  if (unit == file::RowUnit::sequence) return run.sequences;
  return unit == file::RowUnit::selected ? run.selected_rows : run.rows;
}

/// Splits the positions of a decoding step's attention where its units, the KV heads, would leave threads
/// idle.
uint32_t split_positions(const mote_session& session, const AttentionArgs& args, uint32_t units) {
  const uint32_t segments = session.run.last_position / kAttentionSegment + 1;
  const bool few = args.partials != nullptr && args.rows <= session.options.batch;
  return few && args.window == 0 && segments > 1 && units % session.options.threads != 0 ? segments : 0;
}

/// Rows of each lane, 0 where the run is not in lanes.
uint32_t lane_rows(const mote_session& session) {
  const uint32_t rows = session.run.rows, threads = session.options.threads;
  return rows / threads < session.least_lane ? 0 : rows_of_lane(rows, threads);
}

ConstRowsInLanes in_lanes(const mote_session& session, ConstRows rows) {
  const uint32_t of_lane = lane_rows(session);
  return of_lane == 0 ? in_one_lane(rows) : ConstRowsInLanes{rows, of_lane, session.lane_bytes};
}

struct Extent {
  uint32_t rows;
  uint32_t units;
  uint64_t work;
};

/// Sets the step's number of rows; its units and work follow from it.
Extent prepare(const mote_session& session, Step* step) {
  const uint32_t rows = rows_of(session.run, step->unit), last_position = session.run.last_position;
  const uint64_t work = rows * step->work_per_row;
  if (step->op == Op::kLinear) {
    if (step->linear.rows != rows) step->linear.rows = rows;  // else the line stays in all cores' caches
    return {rows, units_of(*step, rows), work};
  }
  if (step->op == Op::kAttention) {
    AttentionArgs& args = step->attention;
    args.rows = rows;
    const uint32_t seen = args.window != 0 && args.window <= last_position ? args.window : last_position + 1;
    const uint32_t units = units_of(*step, rows);
    args.segments = lane_rows(session) != 0 ? 0 : split_positions(session, args, units);
    // The product fits: layout.cpp refuses sessions whose units would not.
    return {rows, args.segments == 0 ? units : units * args.segments, work * 2 * seen};
  }
  if (step->op == Op::kSelect) {
    step->select.first = session.model->encoder ? session.starts[session.run.first_sequence] : 0;
    step->select.rows = session.run.rows;
    step->select.in = in_lanes(session, step->select.in.first_lane);
  }
  if (step->op == Op::kPool) {
    step->pool.first = session.run.first_sequence;
    step->pool.in = in_lanes(session, step->pool.in.first_lane);
    return {rows, session.run.end_sequence - session.run.first_sequence, work};
  }
  return {rows, rows, work};
}

/// Whether each lane ends where a sequence of an encoder does: then no lane reads keys and values of another.
bool lanes_are_sequences(const mote_session& session, uint32_t of_lane) {
  if (!session.model->encoder) return false;
  for (uint32_t row = of_lane; row < session.run.rows; row += of_lane) {
    if (session.sequences[row] == session.sequences[row - 1]) return false;
  }
  return true;
}

/// Step `index` and those after it that need not wait in lanes; returns the one after them.
uint32_t run_in_lanes(mote_session* session, uint32_t index, uint32_t end) {
  Step* steps = session->lane_steps;
  if (end - index > Share::kMostSteps) end = index + Share::kMostSteps;
  const uint32_t rows = session->run.rows, of_lane = lane_rows(*session);
  Fork fork{session, steps, index, index, rows, 0, (rows + of_lane - 1) / of_lane, of_lane, 1};
  const bool apart = lanes_are_sequences(*session, of_lane);
  const auto follows = [apart](const Step& step) {
    return apart ? step.unit == file::RowUnit::token : !step.needs_barrier;
  };
  do prepare(*session, &steps[fork.end++]);
  while (fork.end < end && follows(steps[fork.end]));
  run_together(&fork, 0);
  return fork.end;
}

/// Step `index` and those before `end` that are chained to it; returns the one after them.
uint32_t run_steps(mote_session* session, uint32_t index, uint32_t end) {
  const bool of_tokens = session->steps[index].unit == file::RowUnit::token;
  if (!of_tokens && !leaves_tokens(session->steps[index].op) && !last_pass(session->run)) return index + 1;
  const bool lanes = lane_rows(*session) != 0;
  if (lanes && of_tokens) return run_in_lanes(session, index, end);
  Step* steps = lanes ? session->lane_steps : session->steps;
  Step& step = steps[index];
  Extent extent = prepare(*session, &step);
  Fork fork{session, steps, index, index + 1, extent.rows, extent.units, 1, 0, 1};
  while (fork.end < end && steps[fork.end].chained) {
    extent.work += prepare(*session, &steps[fork.end++]).work;
  }
  if (extent.units == 0) return fork.end;
  if (extent.work >= kParallelWork && extent.units <= Share::kMostUnits) {
    fork.parts = extent.units < session->options.threads ? extent.units : session->options.threads;
  }
  if (fork.parts == 1) {
    run_alone(fork);
  } else {
    run_together(&fork, extent.work);
  }
  if (step.op == Op::kAttention && step.attention.segments != 0) {
    kernel_cast<AttentionMergeArgs>(step.merge)(step.attention, {0, step.attention.rows}, nullptr);
  }
  return fork.end;
}

void trace(const mote_session* session, uint32_t index) {
  const auto* probes = session->model->program->probes();
  for (uint32_t i = 0; probes != nullptr && i < probes->size(); ++i) {
    const file::Probe* probe = probes->Get(i);
    if (probe->op() != index) continue;
    ConstRows rows;
    file::RowUnit unit;
    if (bind_slice(*session->model, session->places, index, probe->value(), &rows, &unit, nullptr) != MOTE_OK)
      continue;
    session->options.trace(session->options.trace_user, probe->name()->c_str(), rows.data,
                           rows_of(session->run, unit), probe->value()->width(),
                           rows.stride_bytes / sizeof(float));
  }
}

void commit(mote_session* session) {
  for (uint32_t row = 0; row < session->run.rows && !session->model->encoder; ++row) {
    session->lengths[session->sequences[row]] = static_cast<uint32_t>(session->positions[row]) + 1;
  }
  session->run.active = false;
}

}  // namespace

void begin_run(mote_session* session) {
  session->run = {};
  session->run.active = true;
  memset(session->added, 0, session->options.batch * sizeof session->added[0]);
  session->logit_count = 0;
}

void add_row(mote_session* session, uint32_t sequence, int32_t id, bool wants_logits) {
  Run& run = session->run;
  const uint32_t position = session->lengths[sequence] + session->added[sequence]++;
  session->ids[run.rows] = id;
  session->positions[run.rows] = static_cast<int32_t>(position);
  session->sequences[run.rows] = static_cast<int32_t>(sequence);
  if (position > run.last_position) run.last_position = position;
  if (wants_logits) {
    session->logit_index[session->logit_count++] = static_cast<int32_t>(run.selected_rows);
    session->selected[run.selected_rows++] = run.rows;
  }
  ++run.rows;
}

void add_sequence(mote_session* session, const int32_t* ids, const int32_t* token_types, uint32_t length) {
  Run& run = session->run;
  for (uint32_t i = 0; i < length; ++i) {
    const uint32_t row = run.rows + i;
    session->ids[row] = ids[i];
    session->token_types[row] = token_types == nullptr ? 0 : token_types[i];
    session->positions[row] = static_cast<int32_t>(i);
    session->last_seen[row] = static_cast<int32_t>(length - 1);
    session->sequences[row] = static_cast<int32_t>(run.sequences);
  }
  session->starts[run.sequences++] = run.rows;
  run.rows += length;
  session->starts[run.sequences] = run.rows;
  if (length - 1 > run.last_position) run.last_position = length - 1;
}

void begin_pass(mote_session* session) {
  Run& run = session->run;
  const uint32_t* starts = session->starts;
  run.first_sequence = run.end_sequence;
  run.end_sequence = end_of_pass(starts, run.first_sequence, run.sequences, session->pass_rows);
  run.rows = starts[run.end_sequence] - starts[run.first_sequence];
  run.next_op = 0;
  if (run.first_sequence == 0) return;
  for (int32_t* of_rows :
       {session->ids, session->positions, session->last_seen, session->token_types, session->sequences}) {
    memmove(of_rows, of_rows + starts[run.first_sequence], run.rows * sizeof(int32_t));
  }
  for (uint32_t row = 0; row < run.rows; ++row) {  // their keys and values take the place of earlier ones
    session->sequences[row] -= static_cast<int32_t>(run.first_sequence);
  }
}

bool continue_run(mote_session* session, uint32_t max_ops) {
  Run& run = session->run;
  const bool tracing = session->options.trace != nullptr;
  for (uint32_t left = max_ops == 0 ? UINT32_MAX : max_ops;;) {
    const uint32_t steps = session->step_count - run.next_op;
    const uint32_t end = run.next_op + (left < steps ? left : steps);
    left -= end - run.next_op;
    while (run.next_op < end) {
      const uint32_t op = run.next_op;
      run.next_op = run_steps(session, op, tracing ? op + 1 : end);
      if (tracing) trace(session, op);
    }
    if (end != session->step_count) return false;
    if (last_pass(run)) break;
    begin_pass(session);
  }
  commit(session);
  return true;
}

void end_run(mote_session* session) {
  session->run.active = false;
  session->generation.active = false;
  session->logit_count = 0;
}

}  // namespace mote
