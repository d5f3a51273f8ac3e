// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/lane.h"

#include <type_traits>

#include "runtime/exec/session.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

// With more KV heads, which no model has, a chunk's units of attention would be too many for a share.
constexpr uint32_t kMostHeads = StealableUnits::kMostUnits / (kMaxChunk / kAttentionRowBlock);

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

uint32_t least_lane_rows(const LinearWeights& weights, const Tuning& tuning, uint32_t threads) {
  if (!weights.integers) {
    const auto& floats = tuning.floats;
    return (weights.bytes <= floats.cached_bytes ? floats.cached_rows : floats.uncached_rows) * threads;
  }
  const uint32_t cached_rows = tuning.integers.cached_rows * threads;
  if (weights.bytes <= tuning.integers.cached_bytes) return cached_rows;
  const uint32_t rows = weights.columns / tuning.columns_of_row;
  return larger(cached_rows, rows < tuning.most_rows ? rows : tuning.most_rows);
}

uint32_t least_lane_rows(const mote_model& model, const file::Program& program, const Tuning& tuning,
                         uint32_t threads) {
  for (const file::State* cache : *model.root->states()) {
    if (cache->kv_heads() > kMostHeads) return UINT32_MAX;
  }
  return least_lane_rows(linear_weights(model, program), tuning, threads);
}

bool may_be_in_lane(const Step& step) { return step.stream == kTokens && !traits_of(step.op).of_sequences(); }

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
