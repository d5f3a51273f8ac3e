// SPDX-License-Identifier: Apache-2.0
//
// The .mote file of a graph that no architecture makes.
#pragma once

#include <cstddef>
#include <vector>

#include "converter/encode_weight.h"
#include "converter/metadata.h"
#include "runtime/xxh64.h"
#include "tests/support/aligned_bytes.h"

namespace test {

/// `name` is also its architecture. change(index, bytes) may alter a weight before it is hashed.
template <class Change>
AlignedBytes graph_file(const mote::convert::Graph& graph, const char* name, Change change) {
  using namespace mote::convert;
  const MemoryPlan plan = plan_memory(graph);
  Metadata metadata{&graph, &plan, name, name, {}, {}, {}, {}, false, std::nullopt, nullptr};
  std::vector<std::byte> segment;
  for (const Weight& weight : graph.weights) {
    const uint64_t offset = segment.size();
    encode_weight(weight, [&](std::span<const std::byte> part) {
      segment.insert(segment.end(), part.begin(), part.end());
    });
    change(metadata.tensors.size(), segment.data() + offset);
    const uint64_t hash = mote::xxh64(segment.data() + offset, segment.size() - offset);
    metadata.tensors.push_back({offset, segment.size() - offset, hash});
  }
  std::vector<std::byte> bytes = build_metadata(metadata);
  bytes = build_metadata(metadata, bytes.size());
  bytes.resize(mote::align_up(bytes.size(), mote::kAlignment));
  bytes.insert(bytes.end(), segment.begin(), segment.end());
  return AlignedBytes(bytes.data(), bytes.size());
}

inline AlignedBytes graph_file(const mote::convert::Graph& graph, const char* name) {
  return graph_file(graph, name, [](size_t, std::byte*) {});
}

}  // namespace test
