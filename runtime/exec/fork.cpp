// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/fork.h"

#include <assert.h>

#include "runtime/exec/backend.h"
#include "runtime/exec/lane.h"

namespace mote {
namespace {

// Multiply-adds of the smallest piece of a share: about a microsecond, in which taking it is lost.
constexpr uint64_t kPieceWork = 1u << 15;

// Rows that go through a chain together: with the widest operands of small models they fill L1, and a call of
// a kernel has work for hundreds of cycles.
constexpr uint32_t kChainRows = 16;

// Panels of a unit of linear operations in lanes: kernels of many rows take pairs.
constexpr uint32_t kLanePanels = 2;

// How often a thread looks, with a pause after each, for the units of a lane that others are about to lay out
// before it leaves: some 20 us. Whoever keeps it waiting longer has lost its core, and needs this one: with
// 20 times as many looks, two programs at once are 5 to 10 % slower.
constexpr uint32_t kLooks = 1000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

template <class Args>
void call(const Step& step, const Args& args, Range units, void* scratch) {
  kernel_cast<Args>(step.kernel)(args, units, scratch);
}

template <class T>
T from_row(T rows, uint32_t first) {
  if (rows.data != nullptr) rows.data = rows[first];
  return rows;
}

/// Panels of some rows of a linear operation; `scratch_is_ready` if the thread has just run others of the
/// same rows.
void run_linear(const Step& step, Range rows, Range panels, void* scratch, bool scratch_is_ready,
                uint32_t stream = 0) {
  LinearArgs args = step.linear;
  args.stream = stream;
  args.rows = rows.end - rows.begin;
  args.in = static_cast<const char*>(args.in) + rows.begin * args.in_stride_bytes;
  args.out = from_row(args.out, rows.begin);
  args.residual = from_row(args.residual, rows.begin);
  args.scratch_is_ready = scratch_is_ready;
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
void run_kernel(const Step& step, Range rows, Range units, void* scratch, bool scratch_is_ready) {
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
      return run_linear(step, rows, units, scratch, scratch_is_ready);
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

uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

bool is_across_rows(const Step& step) { return step.op == Op::kLinear || step.op == Op::kAttention; }

uint32_t end_of_chain(const Fork& fork, uint32_t step) {
  do ++step;
  while (step < fork.end && fork.steps[step].chained);
  return step;
}

Range rows_of(const Fork& fork, uint32_t part) {
  if (fork.lane_rows == 0) return {0, fork.rows};
  const uint32_t first = part * fork.lane_rows;
  return {first, lesser(first + fork.lane_rows, fork.rows)};
}

/// Kernels' units that are one in lanes.
uint32_t lane_unit(const Step& step) {
  if (step.op == Op::kLinear) return kLanePanels;
  return step.op == Op::kAttention ? 1 : kChainRows;
}

/// A part's equal share of the kernels' units.
Range equal_part(const Fork& fork, uint32_t part) {
  return {static_cast<uint32_t>(uint64_t{fork.units} * part / fork.parts),
          static_cast<uint32_t>(uint64_t{fork.units} * (part + 1) / fork.parts)};
}

/// The panels of a part that a single row is multiplied with: streams of `length` panels that are read side
/// by side, then what is left over. A unit is a panel of each stream, or one left over: so a piece goes on
/// where the one before it ended, and what the processor fetches ahead of the streams is not in vain.
struct Streams {
  Range panels;
  uint32_t length;

  uint32_t units() const { return panels.end - panels.begin - kOthers * length; }

  void run(const Step& step, Range units, void* scratch) const {
    const uint32_t begin = panels.begin, behind = begin + kOthers * length;
    const uint32_t end = lesser(units.end, length), rest = units.begin < length ? length : units.begin;
    if (units.begin < end)
      run_linear(step, {0, 1}, {begin + units.begin, begin + end}, scratch, false, length);
    if (rest < units.end) run_linear(step, {0, 1}, {behind + rest, behind + units.end}, scratch, false);
  }

 private:
  static constexpr uint32_t kOthers = kLinearStreams - 1;
};

bool is_streamed(const Fork& fork) {
  const Step& step = fork.steps[fork.first];
  return fork.rows == 1 && fork.lane_rows == 0 && step.op == Op::kLinear && !step.on_backend;
}

Streams streams_of(const Fork& fork, uint32_t part) {
  const Range panels = equal_part(fork, part);
  return {panels, (panels.end - panels.begin) / kLinearStreams};
}

/// The units of a part of the chain that begins with `step`.
Range units_of(const Fork& fork, uint32_t part, uint32_t step) {
  if (is_streamed(fork)) return {0, streams_of(fork, part).units()};
  if (fork.lane_rows == 0) return equal_part(fork, part);
  const Range rows = rows_of(fork, part);
  const Step& first = fork.steps[step];
  return {0, (units_of(first, rows.end - rows.begin) + lane_unit(first) - 1) / lane_unit(first)};
}

/// Whether the session's scratch is what a call of the step with so many rows needs.
[[maybe_unused]] bool scratch_fits(const mote_session& session, const Step& step, Range rows) {
  const ScratchShape shape = scratch_shape(step, rows.end - rows.begin);
  return step.on_backend || step.kernel->scratch_bytes(shape) <= session.scratch_bytes;
}

/// Units of a part through a chain of steps; `scratch_is_ready` if the thread has just run others of them.
void run_units(const Fork& fork, uint32_t part, uint32_t step, Range units, void* scratch,
               bool scratch_is_ready) {
  const mote_session& session = *fork.session;
  const Step& first = fork.steps[step];
  assert(scratch_fits(session, first, rows_of(fork, part)));
  if (first.on_backend) {
    return run_on_backend(*session.options.backend, step, first, units, static_cast<uint8_t*>(scratch));
  }
  if (is_streamed(fork)) return streams_of(fork, part).run(first, units, scratch);
  const Range rows = rows_of(fork, part);
  if (fork.lane_rows != 0) {
    const uint32_t all = units_of(first, rows.end - rows.begin), each = lane_unit(first);
    const uint32_t begin = is_across_rows(first) ? 0 : rows.begin;
    units = {begin + units.begin * each, begin + lesser(units.end * each, all)};
  }
  const uint32_t end = end_of_chain(fork, step);
  const uint32_t some = end - step == 1 ? units.end - units.begin : kChainRows;
  while (units.begin < units.end) {
    const Range next{units.begin, units.end - units.begin < some ? units.end : units.begin + some};
    for (uint32_t i = step; i < end; ++i) {
      if (fork.lane_rows == 0) {
        run_kernel(fork.steps[i], rows, next, scratch, scratch_is_ready);
      } else {
        const Step moved = in_lane(fork.steps[i], part * session.lane_bytes, rows.begin);
        run_kernel(moved, rows, next, scratch, scratch_is_ready);
      }
    }
    units.begin = next.end;
  }
}

/// What is left of a part's share; `last`: the step whose kernel was the last to prepare the scratch for the
/// part's rows, or fork.end.
void run_share(const Fork& fork, uint32_t part, void* scratch, uint32_t* last) {
  Share& share = fork.session->shares[part];
  uint32_t counted = fork.end;  // the step that has `all` units
  Range all{};
  for (uint32_t looks = 0; looks < kLooks;) {
    const Share::Piece piece = share.take(fork.least);
    const uint32_t step = fork.first + piece.step, next = end_of_chain(fork, step);
    if (piece.count == 0) {
      if (next == fork.end) return;
      pause_briefly();
      ++looks;
      continue;
    }
    looks = 0;
    if (step != counted) all = units_of(fork, part, step);
    counted = step;
    const uint32_t begin = all.end - piece.left;
    run_units(fork, part, step, {begin, begin + piece.count}, scratch, step == *last);
    *last = step;
    if (next < fork.end && share.complete(piece.count, all.end - all.begin)) {
      const Range units = units_of(fork, part, next);
      share.set(next - fork.first, units.end - units.begin);
    }
  }
}

/// The share of thread `index`, then what is left of the others'.
void run_part(void* context, uint32_t index) {
  const Fork& fork = *static_cast<const Fork*>(context);
  const mote_session& session = *fork.session;
  void* scratch = session.scratch + index * session.scratch_stride;
  uint32_t last = fork.end;
  for (uint32_t i = 0; i < fork.parts; ++i) {
    if (fork.lane_rows != 0) last = fork.end;  // other rows
    run_share(fork, (index + i) % fork.parts, scratch, &last);
  }
}

}  // namespace

uint32_t units_of(const Step& step, uint32_t rows) {
  if (rows == 0 || !is_across_rows(step)) return rows;
  if (step.op == Op::kLinear) return (step.linear.outputs + kPanelRows - 1) / kPanelRows;
  return (rows + kAttentionRowBlock - 1) / kAttentionRowBlock * step.attention.cache.kv_heads;
}

void run_alone(const Fork& fork) {
  run_units(fork, 0, fork.first, units_of(fork, 0, fork.first), fork.session->scratch, false);
}

void run_together(Fork* fork, uint64_t work) {
  const mote_session& session = *fork->session;
  uint64_t least = fork->lane_rows != 0 ? 1 : fork->units * kPieceWork / work;
  if (is_streamed(*fork)) least /= kLinearStreams;
  fork->least = least == 0 ? 1 : static_cast<uint32_t>(least);
  for (uint32_t part = 0; part < fork->parts; ++part) {
    const Range units = units_of(*fork, part, fork->first);
    session.shares[part].set(0, units.end - units.begin);
  }
  const mote_platform& platform = session.options.platform;
  platform.parallel_for(platform.user, run_part, fork, fork->parts);
}

}  // namespace mote
