// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/fork.h"

#include <assert.h>

#include "runtime/exec/backend.h"
#include "runtime/exec/lane.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

// Multiply-adds of the smallest piece of a share: enough that the cost of taking it does not show.
constexpr uint64_t kPieceWork = 1u << 15;

// Rows that go through a chain together. Their operands fit L1, and a call of a kernel still has enough work.
constexpr uint32_t kChainRows = 16;

// Panels of a unit of linear operations in lanes: kernels of many rows take pairs.
constexpr uint32_t kLanePanels = 2;

// How often a thread looks for new units of a lane before it leaves, with a pause after each look. A thread
// that keeps it waiting longer has lost its core to another program and needs this one.
constexpr uint32_t kLooks = 1000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t end_of_chain(const Fork& fork, uint32_t step) {
  do ++step;
  while (step < fork.end && fork.steps[step].chained);
  return step;
}

/// `rows`: to which units across rows belong.
void run_kernel(const Step& step, Range rows, Range units, void* scratch, bool scratch_is_ready,
                uint32_t stream = 0) {
  const Call call{step.kernel, rows, units, scratch, scratch_is_ready, stream};
  visit_step(step, [&](auto operation, const auto& args) { operation.run(args, call); });
}

/// Kernels' units of `rows` rows.
uint32_t kernel_units(const Step& step, uint32_t rows) {
  return visit_step(step, [&](auto operation, const auto& args) { return operation.units(args, rows); });
}

/// Calls f with `some` units after the other.
template <class F>
void each_block(Range units, uint32_t some, F f) {
  for (uint32_t begin = units.begin; begin < units.end;) {
    const uint32_t end = units.end - begin < some ? units.end : begin + some;
    f(Range{begin, end});
    begin = end;
  }
}

/// Units of a part that a thread has taken.
struct Piece {
  uint32_t part;
  uint32_t step;  // the first of the chain
  Range units;
  void* scratch;
  bool scratch_is_ready;  // the thread has just run others of the same chain and part
};

/// A part's equal share of the kernels' units.
Range equal_part(const Fork& fork, uint32_t part) {
  if (!kHasThreads || fork.parts == 1) return {0, fork.units};
  return {static_cast<uint32_t>(uint64_t{fork.units} * part / fork.parts),
          static_cast<uint32_t>(uint64_t{fork.units} * (part + 1) / fork.parts)};
}

// ---- Rows and panels ----

void run_rows(const Fork& fork, const Piece& piece) {
  const uint32_t end = end_of_chain(fork, piece.step);
  const bool alone = end - piece.step == 1;
  each_block(piece.units, alone ? UINT32_MAX : kChainRows, [&](Range units) {
    for (uint32_t i = piece.step; i < end; ++i) {
      const Step& step = fork.steps[i];
      run_kernel(step, {0, fork.rows}, units, piece.scratch, piece.scratch_is_ready);
    }
  });
}

void run_panels(const Fork& fork, const Piece& piece) {
  const Step& step = fork.steps[piece.step];
  run_kernel(step, {0, fork.rows}, piece.units, piece.scratch, piece.scratch_is_ready);
}

// ---- Lanes ----

Range lane_of(const Fork& fork, uint32_t part) {
  const uint32_t first = part * fork.lane_rows;
  return {first, lesser(first + fork.lane_rows, fork.rows)};
}

/// Kernels' units in one of a lane.
uint32_t units_in_one(const Step& step) {
  assert(may_be_in_lane(step));
  switch (traits_of(step.op).unit) {
    case WorkUnit::panel:
      return kLanePanels;
    case WorkUnit::head_block:
    case WorkUnit::expert_panel:
    case WorkUnit::sequence_block:  // never in lanes
      return 1;
    case WorkUnit::row:
      break;
  }
  return kChainRows;
}

Range lane_units(const Fork& fork, uint32_t part, uint32_t index) {
  const Range rows = lane_of(fork, part);
  const Step& step = fork.steps[index];
  const uint32_t each = units_in_one(step);
  return {0, (kernel_units(step, rows.end - rows.begin) + each - 1) / each};
}

void run_lane(const Fork& fork, const Piece& piece) {
  const Step& first = fork.steps[piece.step];
  const Range rows = lane_of(fork, piece.part);
  const uint32_t all = kernel_units(first, rows.end - rows.begin), each = units_in_one(first);
  const uint32_t begin = traits_of(first.op).across_rows() ? 0 : rows.begin;
  const Range units{begin + piece.units.begin * each, begin + lesser(piece.units.end * each, all)};
  const uint32_t end = end_of_chain(fork, piece.step);
  const bool alone = end - piece.step == 1;
  each_block(units, alone ? UINT32_MAX : kChainRows, [&](Range block) {
    for (uint32_t i = piece.step; i < end; ++i) {
      const Step moved = in_lane(fork.steps[i], piece.part * fork.session->lane_bytes, rows.begin);
      run_kernel(moved, rows, block, piece.scratch, piece.scratch_is_ready);
    }
  });
}

// ---- Streams ----

/// The panels of a part that a single row is multiplied with: streams of `length` panels that are read side
/// by side, then the panels left over. A unit is a panel of each stream, or one left over. So a piece
/// continues every stream where the piece before it ended, and uses what the processor has prefetched.
struct Streams {
  static constexpr uint32_t kOthers = kLinearStreams - 1;
  Range panels;
  uint32_t length;
};

Streams streams_of(const Fork& fork, uint32_t part) {
  const Range panels = equal_part(fork, part);
  return {panels, (panels.end - panels.begin) / kLinearStreams};
}

Range stream_units(const Fork& fork, uint32_t part) {
  const Streams streams = streams_of(fork, part);
  return {0, streams.panels.end - streams.panels.begin - Streams::kOthers * streams.length};
}

void run_streams(const Fork& fork, const Piece& piece) {
  const Step& step = fork.steps[piece.step];
  const Streams streams = streams_of(fork, piece.part);
  const Range units = piece.units;
  const uint32_t length = streams.length, begin = streams.panels.begin;
  const uint32_t behind = begin + Streams::kOthers * length;
  const uint32_t end = lesser(units.end, length), rest = units.begin < length ? length : units.begin;
  const auto run = [&](Range panels, uint32_t stream) {
    run_kernel(step, {0, 1}, panels, piece.scratch, false, stream);
  };
  if (units.begin < end) run({begin + units.begin, begin + end}, length);
  if (rest < units.end) run({behind + rest, behind + units.end}, 0);
}

// ---- Backend ----

void run_backend(const Fork& fork, const Piece& piece) {
  run_on_backend(*fork.session->options.backend, piece.step, fork.steps[piece.step], piece.units,
                 static_cast<uint8_t*>(piece.scratch));
}

// ---- All ----

/// The units of a part, for the chain that begins with `step`.
Range units_of(const Fork& fork, uint32_t part, uint32_t step) {
  switch (fork.kind) {
    case ForkKind::lanes:
      if (!kHasThreads) break;
      return lane_units(fork, part, step);
    case ForkKind::streams:
      return stream_units(fork, part);
    case ForkKind::rows:
    case ForkKind::panels:
    case ForkKind::backend:
      break;
  }
  return equal_part(fork, part);
}

void run(const Fork& fork, const Piece& piece) {
  switch (fork.kind) {
    case ForkKind::rows:
      return run_rows(fork, piece);
    case ForkKind::panels:
      return run_panels(fork, piece);
    case ForkKind::lanes:
      if (!kHasThreads) return;
      return run_lane(fork, piece);
    case ForkKind::streams:
      return run_streams(fork, piece);
    case ForkKind::backend:
      if (!kHasBackends) return;
      return run_backend(fork, piece);
  }
}

/// Says whether the session's scratch is the one that the piece's first step needs.
[[maybe_unused]] bool scratch_fits(const Fork& fork, const Piece& piece) {
  const Step& step = fork.steps[piece.step];
  const Range rows = fork.kind == ForkKind::lanes ? lane_of(fork, piece.part) : Range{0, fork.rows};
  return step.on_backend || scratch_bytes(step, rows.end - rows.begin) <= fork.session->scratch_bytes;
}

void run_piece(const Fork& fork, const Piece& piece) {
  assert(scratch_fits(fork, piece));
  run(fork, piece);
}

/// Runs what is left of a part's units; `last`: the step whose kernel was the last to prepare the scratch for
/// the part's rows, or fork.end.
void run_stealable(const Fork& fork, uint32_t part, void* scratch, uint32_t* last) {
  StealableUnits& units_left = fork.session->stealable[part];
  uint32_t counted = fork.end;  // the step that has `all` units
  Range all{};
  for (uint32_t looks = 0; looks < kLooks;) {
    const StealableUnits::Piece taken = units_left.take(fork.least);
    const uint32_t step = fork.first + taken.step, next = end_of_chain(fork, step);
    if (taken.count == 0) {
      if (next == fork.end) return;
      pause_briefly();
      ++looks;
      continue;
    }
    looks = 0;
    if (step != counted) all = units_of(fork, part, step);
    counted = step;
    const uint32_t begin = all.end - taken.left;
    run_piece(fork, {part, step, {begin, begin + taken.count}, scratch, step == *last});
    *last = step;
    if (next < fork.end && units_left.complete(taken.count, all.end - all.begin)) {
      const Range units = units_of(fork, part, next);
      units_left.set(next - fork.first, units.end - units.begin);
    }
  }
}

/// Runs the units of thread `index`, then what is left of the others'.
void run_part(void* context, uint32_t index) {
  const Fork& fork = *static_cast<const Fork*>(context);
  const mote_session& session = *fork.session;
  void* scratch = session.scratch + index * session.scratch_stride;
  uint32_t last = fork.end;
  for (uint32_t i = 0; i < fork.parts; ++i) {
    if (fork.kind == ForkKind::lanes) last = fork.end;  // other rows
    run_stealable(fork, (index + i) % fork.parts, scratch, &last);
  }
}

}  // namespace

ForkKind fork_kind(const Step& step, uint32_t rows) {
  if (kHasBackends && step.on_backend) return ForkKind::backend;
  switch (traits_of(step.op).unit) {
    case WorkUnit::panel:
      return rows == 1 ? ForkKind::streams : ForkKind::panels;
    case WorkUnit::head_block:
    case WorkUnit::sequence_block:
    case WorkUnit::expert_panel:
      return ForkKind::panels;
    case WorkUnit::row:
      break;
  }
  return ForkKind::rows;
}

void run_alone(const Fork& fork) {
  run_piece(fork, {0, fork.first, units_of(fork, 0, fork.first), fork.session->scratch, false});
}

void run_together(Fork* fork, uint64_t work) {
  const mote_session& session = *fork->session;
  uint64_t least = work == 0 ? 1 : fork->units * kPieceWork / work;
  if (fork->kind == ForkKind::streams) least /= kLinearStreams;
  fork->least = least == 0 ? 1 : static_cast<uint32_t>(least);
  for (uint32_t part = 0; part < fork->parts; ++part) {
    const Range units = units_of(*fork, part, fork->first);
    session.stealable[part].set(0, units.end - units.begin);
  }
  const mote_platform& platform = session.options.platform;
  platform.parallel_for(platform.user, run_part, fork, fork->parts);
}

}  // namespace mote
