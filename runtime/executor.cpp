// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <string.h>

#include "runtime/backend.h"
#include "runtime/passes.h"

namespace mote {
namespace {

// Work below this many multiply-adds is done by the calling thread: a few microseconds, in which a second
// thread could gain one, and loses many where it has no core of its own.
constexpr uint64_t kParallelWork = 1u << 17;

// Multiply-adds of the smallest piece of a share: about a microsecond, in which taking it is lost.
constexpr uint64_t kPieceWork = 1u << 15;

// Rows that go through a chain together: with the widest operands of small models they fill L1, and a call of
// a kernel has work for hundreds of cycles.
constexpr uint32_t kChainRows = 16;

template <class Args>
void call(const Step& step, const Args& args, Range units, void* scratch) {
  reinterpret_cast<Kernel<Args>>(step.kernel)(args, units, scratch);
}

template <class T>
T from_row(T rows, uint32_t first) {
  if (rows.data != nullptr) rows.data = rows[first];
  return rows;
}

/// Panels of some rows of a linear operation; `prepared` if the thread has just run others of the same rows.
void run_linear(const Step& step, Range rows, Range panels, void* scratch, bool prepared) {
  LinearArgs args = step.linear;
  args.rows = rows.end - rows.begin;
  args.in = static_cast<const char*>(args.in) + rows.begin * args.in_stride_bytes;
  args.out = from_row(args.out, rows.begin);
  args.residual = from_row(args.residual, rows.begin);
  args.prepared = prepared;
  call(step, args, panels, scratch);
}

/// Units of some rows of attention, as if there were no others.
void run_attention(const Step& step, Range rows, Range units, void* scratch) {
  AttentionArgs args = step.attention;
  args.rows = rows.end - rows.begin;
  args.positions += rows.begin;
  args.last_seen += rows.begin;
  args.sequences += rows.begin;
  args.q = from_row(args.q, rows.begin);
  args.out = from_row(args.out, rows.begin);
  call(step, args, units, scratch);
}

/// `rows` are those to which units across rows belong: panels, and heads of attention. Other units are rows.
void run_kernel(const Step& step, Range rows, Range units, void* scratch, bool prepared) {
  switch (step.op) {
    case Op::kEmbed:
      return call(step, step.embed, units, scratch);
    case Op::kPositions:
      return call(step, step.positions, units, scratch);
    case Op::kNorm:
      return call(step, step.norm, units, scratch);
    case Op::kQuantize:
      return call(step, step.quantize, units, scratch);
    case Op::kLinear:
      return run_linear(step, rows, units, scratch, prepared);
    case Op::kRopeTable:
      return call(step, step.rope_table, units, scratch);
    case Op::kRope:
      return call(step, step.rope, units, scratch);
    case Op::kKvStore:
      return call(step, step.kv_store, units, scratch);
    case Op::kAttention:
      return run_attention(step, rows, units, scratch);
    case Op::kGate:
      return call(step, step.gate, units, scratch);
    case Op::kSelect:
      return call(step, step.select, units, scratch);
    case Op::kPool:
      return call(step, step.pool, units, scratch);
    case Op::kAttentionMerge:  // no step of its own
      return;
  }
}

bool last_pass(const Run& run) { return run.end_sequence == run.sequences; }

uint32_t rows_of(const Run& run, file::RowUnit unit) {
  if (unit == file::RowUnit::sequence) return run.sequences;
  return unit == file::RowUnit::selected ? run.selected_rows : run.rows;
}

/// Units of a step that is across rows, for `rows` of them.
uint32_t units_across(const Step& step, uint32_t rows) {
  if (rows == 0) return 0;
  if (step.op == Op::kLinear) return (step.linear.outputs + kPanelRows - 1) / kPanelRows;
  return (rows + kAttentionRowBlock - 1) / kAttentionRowBlock * step.attention.cache.kv_heads;
}

struct Extent {
  uint32_t rows;
  uint32_t units;
  uint64_t work;
};

/// Splits the positions of a decoding step's attention where its units, the KV heads, would leave threads
/// idle.
uint32_t split_positions(const mote_session& session, const AttentionArgs& args, uint32_t units) {
  const uint32_t segments = session.run.last_position / kAttentionSegment + 1;
  const bool few = args.partials != nullptr && args.rows <= session.options.batch;
  return few && args.window == 0 && segments > 1 && units % session.options.threads != 0 ? segments : 0;
}

/// Sets the step's number of rows; its units and work follow from it.
Extent prepare(const mote_session& session, Step* step) {
  const uint32_t rows = rows_of(session.run, step->unit), last_position = session.run.last_position;
  const uint64_t work = rows * step->work_per_row;
  if (step->op == Op::kLinear) {
    if (step->linear.rows != rows) step->linear.rows = rows;  // else the line stays in all cores' caches
    return {rows, units_across(*step, rows), work};
  }
  if (step->op == Op::kAttention) {
    AttentionArgs& args = step->attention;
    args.rows = rows;
    const uint32_t seen = args.window != 0 && args.window <= last_position ? args.window : last_position + 1;
    const uint32_t units = units_across(*step, rows);
    args.segments = split_positions(session, args, units);
    return {rows, args.segments == 0 ? units : units * args.segments, work * 2 * seen};
  }
  if (step->op == Op::kSelect) {
    step->select.first = session.model->encoder ? session.starts[session.run.first_sequence] : 0;
    step->select.rows = session.run.rows;
  }
  if (step->op == Op::kPool) {
    step->pool.first = session.run.first_sequence;
    return {rows, session.run.end_sequence - session.run.first_sequence, work};
  }
  return {rows, rows, work};
}

/// One fork of a chain of steps over the threads, which read it from one cache line.
struct alignas(64) Fork {
  const mote_session* session;
  uint32_t first, end;  // steps
  uint32_t rows;
  uint32_t units;  // of each step
  uint32_t parts;  // threads
  bool apart;      // each part has its own rows, and the units of those; else units of all rows
  uint32_t least;  // units of a piece

  /// Part i of n things, in order.
  Range part_of(uint32_t n, uint32_t i) const {
    return {static_cast<uint32_t>(uint64_t{n} * i / parts),
            static_cast<uint32_t>(uint64_t{n} * (i + 1) / parts)};
  }
  Range rows_of(uint32_t part) const { return apart ? part_of(rows, part) : Range{0, rows}; }
};

/// Whether the threads should have rows of their own in a step across rows (share.h).
bool keeps_rows_apart(const Fork& fork) {
  const Step& step = fork.session->steps[fork.first];
  const bool across = step.op == Op::kLinear || (step.op == Op::kAttention && step.attention.segments == 0);
  return across && !step.on_backend && fork.rows / fork.parts >= fork.session->rows_apart;
}

/// The units of steps [first, end), some at a time through all of them.
void run_chain(const Fork& fork, Range rows, Range units, void* scratch, bool prepared) {
  const uint32_t some = fork.end - fork.first == 1 ? units.end - units.begin : kChainRows;
  while (units.begin < units.end) {
    const Range next{units.begin, units.end - units.begin < some ? units.end : units.begin + some};
    for (uint32_t i = fork.first; i < fork.end; ++i)
      run_kernel(fork.session->steps[i], rows, next, scratch, prepared);
    units.begin = next.end;
  }
}

void run_units(const Fork& fork, Range rows, Range units, uint8_t* scratch, bool prepared) {
  const mote_session& session = *fork.session;
  const Step& first = session.steps[fork.first];
  if (first.on_backend) {
    run_on_backend(*session.options.backend, fork.first, first, units, scratch);
  } else {
    run_chain(fork, rows, units, scratch, prepared);
  }
}

/// The share of thread `index`, then what is left of the others'.
void run_part(void* context, uint32_t index) {
  const Fork& fork = *static_cast<const Fork*>(context);
  const mote_session& session = *fork.session;
  uint8_t* scratch = session.scratch + index * session.scratch_bytes;
  bool prepared = false;
  for (uint32_t i = 0; i < fork.parts; ++i) {
    const uint32_t part = (index + i) % fork.parts;
    Share& share = session.shares[part];
    const Range rows = fork.rows_of(part);
    for (Range units = share.take(fork.least); units.begin != units.end; units = share.take(fork.least)) {
      run_units(fork, rows, units, scratch, prepared);
      prepared = true;
    }
    if (fork.apart) prepared = false;
  }
}

/// Part i of fork.parts begins with an equal share of the units, in order.
void run_parallel(const mote_platform& platform, Fork* fork, uint64_t work) {
  const Step& step = fork->session->steps[fork->first];
  uint32_t units = 0;
  for (uint32_t i = 0; i < fork->parts; ++i) {
    const Range rows = fork->rows_of(i);
    const Range share =
        fork->apart ? Range{0, units_across(step, rows.end - rows.begin)} : fork->part_of(fork->units, i);
    fork->session->shares[i].set(share);
    units += share.end - share.begin;
  }
  const uint64_t least = units * kPieceWork / work;
  fork->least = least == 0 ? 1 : static_cast<uint32_t>(least);
  platform.parallel_for(platform.user, run_part, fork, fork->parts);
}

/// Step `index` and those before `end` that are chained to it; returns the one after them.
uint32_t run_steps(mote_session* session, uint32_t index, uint32_t end) {
  Step& step = session->steps[index];
  const bool of_run = step.unit != file::RowUnit::token && !leaves_tokens(step.op);
  if (of_run && !last_pass(session->run)) return index + 1;
  Extent extent = prepare(*session, &step);
  Fork fork{session, index, index + 1, extent.rows, extent.units, 1, false, 1};
  while (fork.end < end && session->steps[fork.end].chained) {
    extent.work += prepare(*session, &session->steps[fork.end++]).work;
  }
  if (extent.units == 0) return fork.end;
  if (extent.work >= kParallelWork) {
    fork.parts = extent.units < session->options.threads ? extent.units : session->options.threads;
  }
  if (fork.parts == 1) {
    run_units(fork, {0, fork.rows}, {0, fork.units}, session->scratch, false);
  } else {
    fork.apart = keeps_rows_apart(fork);
    run_parallel(session->options.platform, &fork, extent.work);
  }
  if (step.op == Op::kAttention && step.attention.segments != 0) {
    reinterpret_cast<Kernel<AttentionMergeArgs>>(step.merge)(step.attention, {0, step.attention.rows},
                                                             nullptr);
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
  session->logit_count = 0;
}

void add_row(mote_session* session, uint32_t sequence, int32_t id, bool wants_logits) {
  Run& run = session->run;
  uint32_t position = session->lengths[sequence];
  for (uint32_t row = 0; row < run.rows; ++row)
    position += session->sequences[row] == static_cast<int32_t>(sequence);
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
