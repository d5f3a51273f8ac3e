// SPDX-License-Identifier: Apache-2.0
#include "runtime/chain.h"

namespace mote {
namespace {

constexpr uint32_t kMaxOperands = 3;

RowSpan span(const ConstRows& rows, uint32_t width) {
  return {rows.data, rows.stride_bytes, width * sizeof(float)};
}
RowSpan span(const Rows& rows, uint32_t width) {
  return {rows.data, rows.stride_bytes, width * sizeof(float)};
}

/// The operands that lie in buffers, of an operation that reads them row by row: their number, else 0.
uint32_t row_operands(const Step& step, RowSpan operands[kMaxOperands]) {
  uint32_t count = 0;
  const auto add = [&](const RowSpan& rows) { operands[count++] = rows; };
  switch (step.op) {
    case Op::kEmbed:
      add(span(step.embed.out, step.embed.width));
      break;
    case Op::kPositions:
      add(span(step.positions.x, step.positions.width));
      break;
    case Op::kNorm:
      add(span(step.norm.in, step.norm.width));
      add(span(step.norm.out, step.norm.width));
      break;
    case Op::kQuantize:
      add(span(step.quantize.in, step.quantize.width));
      add({step.quantize.out, step.quantize.out_stride_bytes, step.quantize.out_stride_bytes});
      break;
    case Op::kRopeTable:
      add(span(step.rope_table.out, step.rope_table.rotary_width));
      break;
    case Op::kRope:
      add(span(step.rope.table, step.rope.rotary_width));
      add(span(step.rope.x, step.rope.heads * step.rope.head_dim));
      break;
    case Op::kKvStore: {
      const uint32_t width = step.kv_store.cache.kv_heads * step.kv_store.cache.head_dim;
      add(span(step.kv_store.k, width));
      add(span(step.kv_store.v, width));
      break;
    }
    case Op::kGate:
      add(span(step.gate.gate, step.gate.width));
      add(span(step.gate.up, step.gate.width));
      add(span(step.gate.out, step.gate.width));
      break;
    case Op::kLinear:     // by panels
    case Op::kAttention:  // across rows, as are the rest
    case Op::kAttentionMerge:
    case Op::kSelect:
    case Op::kPool:
      break;
  }
  return count;
}

uint32_t rows_of(const Places& places, file::RowUnit unit) {
  if (unit == file::RowUnit::sequence) return places.sequence_rows;
  return unit == file::RowUnit::selected ? places.selected_rows : places.token_rows;
}

/// Whether `later` may take a row as soon as `earlier` has.
bool may_follow(const Places& places, const Step& earlier, const Step& later) {
  RowSpan before[kMaxOperands], after[kMaxOperands];
  const uint32_t before_count = row_operands(earlier, before), after_count = row_operands(later, after);
  if (before_count == 0 || after_count == 0 || earlier.unit != later.unit) return false;
  for (uint32_t i = 0; i < before_count; ++i) {
    for (uint32_t j = 0; j < after_count; ++j) {
      if (!rows_stay_apart(before[i], after[j], rows_of(places, later.unit))) return false;
    }
  }
  return true;
}

}  // namespace

bool rows_stay_apart(const RowSpan& a, const RowSpan& b, uint32_t rows) {
  const uintptr_t a_begin = reinterpret_cast<uintptr_t>(a.first),
                  b_begin = reinterpret_cast<uintptr_t>(b.first);
  if (rows < 2) return true;
  if (a_begin + (rows - 1) * a.stride_bytes + a.bytes <= b_begin) return true;
  if (b_begin + (rows - 1) * b.stride_bytes + b.bytes <= a_begin) return true;
  // They meet: both must be columns of the same rows.
  const size_t distance = a_begin < b_begin ? b_begin - a_begin : a_begin - b_begin;
  const size_t end = distance + (a_begin < b_begin ? b.bytes : a.bytes);
  return a.stride_bytes == b.stride_bytes && end <= a.stride_bytes;
}

void chain_steps(const Places& places, Step* steps, uint32_t count) {
  for (uint32_t first = 0, next; first < count; first = next) {
    steps[first].chained = false;
    for (next = first + 1; next < count; ++next) {
      bool follows = true;
      for (uint32_t i = first; i < next; ++i) follows = follows && may_follow(places, steps[i], steps[next]);
      if (!follows) break;
      steps[next].chained = true;
    }
  }
}

}  // namespace mote
