// SPDX-License-Identifier: Apache-2.0
//
// The operands of a bound operation that lie in buffers, in one list for all who go over them.
#pragma once

#include "runtime/exec/bind.h"

namespace mote {

/// Calls f(data, stride_bytes, bytes) for each operand with a row per unit of the step: a reference to the
/// pointer to its first row (null for one left out), the distance of rows and what is used of each. What
/// `select` and `pool` read has rows of another unit: it is not among them.
template <class F>
void for_each_operand(Step& step, F&& f) {
  const auto rows = [&](auto& operand, uint64_t width) {
    f(operand.data, operand.stride_bytes, static_cast<size_t>(width * sizeof(float)));
  };
  switch (step.op) {
    case Op::kEmbed:
      return rows(step.embed.out, step.embed.width);
    case Op::kPositions:
      return rows(step.positions.x, step.positions.width);
    case Op::kNorm:
      rows(step.norm.in, step.norm.width);
      return rows(step.norm.out, step.norm.width);
    case Op::kQuantize:
      rows(step.quantize.in, step.quantize.width);
      return f(step.quantize.out, step.quantize.out_stride_bytes, step.quantize.out_stride_bytes);
    case Op::kLinear:
      f(step.linear.in, step.linear.in_stride_bytes, step.linear.in_stride_bytes);
      rows(step.linear.out, step.linear.outputs);
      return rows(step.linear.residual, step.linear.outputs);
    case Op::kRopeTable:
      return rows(step.rope_table.out, step.rope_table.rotary_width);
    case Op::kRope:
      rows(step.rope.table, step.rope.rotary_width);
      return rows(step.rope.x, uint64_t{step.rope.heads} * step.rope.head_dim);
    case Op::kKvStore: {
      const KvCacheView& cache = step.kv_store.cache;
      rows(step.kv_store.k, uint64_t{cache.kv_heads} * cache.key_dim);
      return rows(step.kv_store.v, uint64_t{cache.kv_heads} * cache.value_dim);
    }
    case Op::kAttention:
    case Op::kAttentionMerge: {
      const KvCacheView& cache = step.attention.cache;
      rows(step.attention.q, uint64_t{step.attention.heads} * cache.key_dim);
      return rows(step.attention.out, uint64_t{step.attention.heads} * cache.value_dim);
    }
    case Op::kGate:
      rows(step.gate.gate, step.gate.width);
      rows(step.gate.up, step.gate.width);
      return rows(step.gate.out, step.gate.width);
    case Op::kSelect:
      return rows(step.select.out, step.select.width);
    case Op::kPool:
      return rows(step.pool.out, step.pool.width);
  }
}

}  // namespace mote
