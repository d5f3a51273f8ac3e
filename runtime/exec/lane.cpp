// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/lane.h"

#include <type_traits>

#include "runtime/exec/session.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

// Weights that caches hold between operations.
constexpr uint64_t kCached = 16u << 20;
constexpr uint64_t kCachedByServers = 64u << 20;  // or what is read twice as fast as from memory

// With more KV heads, which no model has, a chunk's units of attention would be too many for a share.
constexpr uint32_t kMostHeads = Share::kMostUnits / (kMaxChunk / kAttentionRowBlock);

uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

LinearWeights linear_weights(const mote_model& model, const file::Program& program) {
  LinearWeights all{activation_dtype(model.first_linear) != DType::f32, 0, 0};
  for (const file::Op* op : *program.ops()) {
    const auto* linear = op->args_as_Linear();
    if (linear == nullptr) continue;
    const auto* weight = model.root->tensors()->Get(static_cast<uint32_t>(linear->weight()));
    if (all.bytes == 0) all.columns = weight->cols();
    all.bytes += weight->bytes();
  }
  return all;
}

}  // namespace

// A thread multiplies 60 to 120 billion weights a second and row: of so many rows, all together read no more
// than 30 GB/s. That is enough where weights are floats that a large cache holds, or come from small ones:
// MiniLM in 8 bits is 1.05 to 1.1 times as fast with 8 rows and more for each of two threads, on far
// cores 1.3 times; in f32 with 16 rows 1.02 and 1.15 times. BERT-base in f32, on Granite Rapids with 17 GB/s
// for each thread, is 0.67 times as fast with 16 rows each, 0.95 with 32, and level with 48. Integers from
// memory are worth reading twice where the rows are many beside what they exchange, which grows with the
// width as the multiplications do with its square: from 64 rows on SmolLM2 (576 columns) is 1.02 to 1.05
// times as fast, BERT-base (768) 0.97, with 96 rows 1.03, and the 1 B shape (2048) with 64 rows 0.97, with
// 128 1.01.
uint32_t least_lane_rows(const LinearWeights& weights, uint32_t threads) {
  if (!weights.integers) return (weights.bytes <= kCachedByServers ? 8 : 32) * threads;
  if (weights.bytes <= kCached) return 4 * threads;
  return larger(4 * threads, weights.columns < 1024 ? weights.columns / 8 : 128);
}

uint32_t least_lane_rows(const mote_model& model, const file::Program& program, uint32_t threads) {
  for (const file::State* cache : *model.root->states()) {
    if (cache->kv_heads() > kMostHeads) return UINT32_MAX;
  }
  return least_lane_rows(linear_weights(model, program), threads);
}

Step in_lane(const Step& step, size_t lane_bytes, uint32_t first_row) {
  Step moved = step;
  for_each_operand(moved, [&](auto*& data, size_t stride_bytes, size_t) {
    if (data == nullptr) return;
    const uintptr_t row_0 = reinterpret_cast<uintptr_t>(data) + lane_bytes - first_row * stride_bytes;
    data = reinterpret_cast<std::remove_reference_t<decltype(data)>>(row_0);
  });
  return moved;
}

}  // namespace mote
