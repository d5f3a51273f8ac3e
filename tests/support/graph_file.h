// SPDX-License-Identifier: Apache-2.0
//
// The .mote file of a graph that no architecture makes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "converter/encode_weight.h"
#include "converter/metadata.h"
#include "mote/mote.h"
#include "runtime/file/xxh64.h"
#include "tests/support/aligned_bytes.h"

namespace test {

/// `name` is also its architecture. change(index, bytes) may alter a weight before it is hashed,
/// add(metadata) what the file says besides.
template <class Change>
AlignedBytes graph_file(
    const mote::convert::Graph& graph, const char* name, Change change,
    const std::vector<int32_t>& stop_ids = {},
    const std::function<void(mote::convert::Metadata&)>& add = [](mote::convert::Metadata&) {}) {
  using namespace mote::convert;
  const MemoryPlan plan = plan_memory(graph);
  Metadata metadata{&graph, &plan, name, name, stop_ids, {}, {}, {}, false, std::nullopt, nullptr};
  add(metadata);
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
  if (metadata.tokenizer != nullptr) {
    const auto tables = metadata.tokenizer->bytes();
    bytes.insert(bytes.end(), tables.begin(), tables.end());
  }
  return AlignedBytes(bytes.data(), bytes.size());
}

inline AlignedBytes graph_file(const mote::convert::Graph& graph, const char* name) {
  return graph_file(graph, name, [](size_t, std::byte*) {});
}

/// Whether a sentence has this part.
inline bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// What opening says of a file that is changed first.
inline mote_status open_changed(AlignedBytes file, mote_error* error,
                                const std::function<void(mote::file::Model*)>& change) {
  change(mote::file::GetMutableSizePrefixedModel(file.data()));
  std::vector<uint64_t> storage(mote_model_bytes() / 8);
  mote_model* opened = nullptr;
  return mote_model_open(file.data(), file.size(), 0, storage.data(), storage.size() * 8, &opened, error);
}

inline mote_status open_changed(
    const mote::convert::Graph& graph, mote_error* error,
    const std::function<void(mote::file::Model*)>& change = [](mote::file::Model*) {}) {
  return open_changed(graph_file(graph, "changed"), error, change);
}

/// A graph of so many ids, without nodes.
inline mote::convert::Graph bare_graph(uint32_t vocab, uint32_t width, uint32_t context) {
  mote::convert::Graph graph;
  graph.vocab = vocab;
  graph.width = width;
  graph.context = context;
  graph.bos_id = -1;
  return graph;
}

/// All columns of a new value of a program.
inline mote::convert::View add_value(mote::convert::ProgramGraph& program, uint32_t width,
                                     mote::convert::Unit unit = mote::convert::Unit::token,
                                     mote::DType type = mote::DType::f32) {
  program.values.push_back({width, type, unit});
  return {static_cast<uint32_t>(program.values.size() - 1), 0, width};
}

/// A decoder of a few values and 16 ids. add(graph, x) puts nodes between the embedding, which gives x, and
/// the head, which reads it.
template <class Add>
AlignedBytes decoder_file(uint32_t width, uint32_t context, Add add) {
  using namespace mote::convert;
  constexpr uint32_t kVocab = 16;
  Graph graph = bare_graph(kVocab, width, context);
  graph.values = {{width, mote::DType::f32, Unit::token},
                  {width, mote::DType::f32, Unit::selected},
                  {kVocab, mote::DType::f32, Unit::selected}};
  std::vector<float> numbers(size_t{kVocab} * width);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i % 37) / 16.0f - 1.0f;
  graph.weights = {{"table", mote::DType::f32, true, kVocab, width, {}, numbers},
                   {"head", mote::DType::f32, false, kVocab, width, {}, numbers}};
  const View x{0, 0, width}, selected{1, 0, width}, logits{2, 0, kVocab};
  graph.nodes.push_back(EmbedNode{0, x});
  add(graph, x);
  graph.nodes.push_back(SelectNode{x, selected});
  graph.nodes.push_back(LinearNode{1, -1, mote::Activation::none, selected, logits, std::nullopt});
  graph.output = logits;
  return graph_file(graph, "decoder");
}

}  // namespace test
