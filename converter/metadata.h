// SPDX-License-Identifier: Apache-2.0
//
// The file's FlatBuffer from a planned graph.
#pragma once

#include <vector>

#include "converter/chat_formats/chat_format.h"
#include "converter/graph.h"
#include "converter/planner/memory_plan.h"
#include "converter/readers/generation_config.h"
#include "converter/tokenizers/tables.h"

namespace mote::convert {

struct TensorRecord {
  uint64_t offset, bytes;  // in the segment
  uint64_t hash = 0;
};

struct SourceRecord {
  std::string name;
  uint64_t bytes, hash;
};

/// The results of a run on the reference kernels.
struct SelfTestRecord {
  std::vector<int32_t> ids;           // the prompt
  std::vector<int32_t> expected_ids;  // its greedy continuation
  std::vector<float> expected_logits;
  float tolerance = 0;
  std::vector<float> values = {};  // rows of the prompt, of a program that takes floats
};

struct Metadata {
  const Graph* graph;
  const MemoryPlan* plan;
  std::string name, architecture;
  std::vector<int32_t> stop_ids;
  std::vector<SourceRecord> sources;
  std::vector<TensorRecord> tensors;  // of graph->weights
  SelfTestRecord self_test = {};
  bool has_self_test = false;
  std::optional<ChatFormat> chat_format = {};
  const TokenizerTables* tokenizer = nullptr;  // null: the file gets none
  std::vector<Prompt> prompts = {};
  int32_t default_prompt = -1;
  std::string similarity = "";
  std::optional<GenerationDefaults> generation = {};  // of other models that go on with ids
  std::optional<BeamDefaults> beams = {};             // of a model with a source of ids
  std::string chat_template = "";                     // JSON, as in the schema; "": the file gets none

  /// Bytes of the segment: the weights, then the tokenizer's tables.
  uint64_t weight_bytes() const { return tensors.empty() ? 0 : tensors.back().offset + tensors.back().bytes; }
  uint64_t segment_bytes() const {
    return weight_bytes() + (tokenizer == nullptr ? 0 : tokenizer->bytes().size());
  }
};

/// The weights' places one after the other.
std::vector<TensorRecord> lay_out(const Graph& graph);

/// The size-prefixed buffer. Its size depends on the texts and the lengths of the lists alone, not on numbers
/// in it, so it can be made before hashes and results are known. With `bytes` it is filled up with zeros,
/// which belong to it. The content hash is of the buffer itself with 0 in its place.
std::vector<std::byte> build_metadata(const Metadata& metadata, uint64_t bytes = 0);

}  // namespace mote::convert
