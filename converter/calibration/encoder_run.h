// SPDX-License-Identifier: Apache-2.0
//
// Runs an encoder on the reference kernels, to see what its matrices meet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "converter/graph.h"
#include "converter/self_test.h"
#include "converter/tokenizers/tables.h"

namespace mote::convert {

/// Runs graphs of one encoder over the same input: a short text between the tokens that the model wants
/// around one, because these gather the largest activations; the self test's prompt where the model has no
/// tokenizer or takes floats.
class EncoderRun {
 public:
  /// `graph` is the model; `tokenizer` may be null. Files are temporary ones beside `target`, never seen
  /// under a name where the file system allows that.
  EncoderRun(const Graph& graph, const TokenizerTables* tokenizer, std::filesystem::path target)
      : plan_(plan_self_test(graph)), tokenizer_(tokenizer), target_(std::move(target)) {}

  /// Rows of the probe `name`: `stride` floats from one to the next.
  using Take =
      std::function<void(const char* name, const float* data, uint32_t rows, uint32_t width, size_t stride)>;
  /// Calls `take` for the probes of a graph of the model, which has no further program; `progress` with the
  /// share done. Throws Error.
  void run(const Graph& graph, const Take& take, const std::function<void(double share)>& progress);

 private:
  void read_text(const OpenedModel& model);

  SelfTestPlan plan_;
  const TokenizerTables* tokenizer_;
  std::filesystem::path target_;
  std::vector<int32_t> ids_;  // of the text; empty: the self test's
};

}  // namespace mote::convert
