// SPDX-License-Identifier: Apache-2.0
#include "converter/planner/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint64_t kMaxRowBytes = uint64_t{1} << 30;  // the runtime's cap

struct Placed {
  uint64_t offset, bytes;
  Lifetime life;
};

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// The offset of the smallest gap for `bytes` among `placed`, which is sorted by offset.
uint64_t best_fit(const std::vector<Placed>& placed, const Lifetime& life, uint64_t bytes) {
  uint64_t end = 0;  // of what is taken so far
  uint64_t best = 0;
  uint64_t best_gap = UINT64_MAX;
  for (const Placed& other : placed) {
    if (!overlap(other.life, life)) continue;
    if (other.offset >= end + bytes && other.offset - end < best_gap) {
      best = end;
      best_gap = other.offset - end;
    }
    end = std::max(end, other.offset + other.bytes);
  }
  return best_gap != UINT64_MAX ? best : end;
}

uint64_t value_bytes(const Value& value) { return buffer_row_bytes(value.dtype, value.width); }

}  // namespace

std::vector<Lifetime> lifetimes(const ProgramGraph& graph) {
  std::vector<Lifetime> lives(graph.values.size(), {UINT32_MAX, 0});
  for (uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (const View& view : views_of(graph.nodes[node])) {
      lives[view.value].first = std::min(lives[view.value].first, node);
      lives[view.value].last = node;
    }
  }
  lives[graph.output.value].last = static_cast<uint32_t>(graph.nodes.size());
  return lives;
}

MemoryPlan plan_memory(const ProgramGraph& graph) {
  const std::vector<Lifetime> lives = lifetimes(graph);
  std::vector<uint32_t> order(graph.values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const uint64_t bytes_a = value_bytes(graph.values[a]);
    const uint64_t bytes_b = value_bytes(graph.values[b]);
    if (bytes_a != bytes_b) return bytes_a > bytes_b;
    return lives[a].first != lives[b].first ? lives[a].first < lives[b].first : a < b;
  });

  MemoryPlan plan;
  plan.buffer_of.resize(graph.values.size());
  plan.row_bytes.resize(graph.units());
  std::vector<std::vector<Placed>> regions(graph.units());
  for (const uint32_t index : order) {
    const Value& value = graph.values[index];
    std::vector<Placed>& region = regions[static_cast<size_t>(value.unit)];
    const uint64_t bytes = value_bytes(value);
    const uint64_t offset = best_fit(region, lives[index], bytes);
    const auto after =
        std::find_if(region.begin(), region.end(), [&](const Placed& p) { return p.offset > offset; });
    region.insert(after, {offset, bytes, lives[index]});
    uint32_t& extent = plan.row_bytes[static_cast<size_t>(value.unit)];
    if (offset + bytes > kMaxRowBytes)
      fail("the model's intermediate rows would take {} bytes each", offset + bytes);
    extent = std::max(extent, static_cast<uint32_t>(offset + bytes));

    const PlannedBuffer buffer{value.width, value.dtype, value.unit, static_cast<uint32_t>(offset)};
    const auto same = std::find(plan.buffers.begin(), plan.buffers.end(), buffer);
    plan.buffer_of[index] = static_cast<uint32_t>(same - plan.buffers.begin());
    if (same == plan.buffers.end()) plan.buffers.push_back(buffer);
  }
  return plan;
}

}  // namespace mote::convert
