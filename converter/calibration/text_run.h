// SPDX-License-Identifier: Apache-2.0
//
// A decoder in 8 bits over a text, to see what its matrices meet.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "converter/graph.h"
#include "converter/tokenizers/tables.h"

namespace mote::convert {

class TextRun {
 public:
  using Progress = std::function<void(double share)>;
  /// Rows of what node `node`, which quantizes, reads: `stride` floats from one to the next.
  using Take = std::function<void(uint32_t node, const float* data, uint32_t rows, size_t stride)>;

  /// Writes the model of 8 bits beside `target`, a temporary file that is never seen under a name where the
  /// file system allows that. `progress` is called with the share written. `graph` need not outlive it.
  /// Throws Error, also for a text of fewer than 2 tokens.
  TextRun(const Graph& graph, const TokenizerTables& tokenizer, const std::string& text,
          const std::filesystem::path& target, const Progress& progress);
  ~TextRun();

  /// Reads the first `tokens` of the text in windows of 512, which begin as a text of the model does. `take`
  /// gets the rows of tokens.
  void run(uint32_t tokens, const Take& take);

  uint32_t tokens() const { return static_cast<uint32_t>(ids_.size()); }

 private:
  struct Model;

  std::unique_ptr<Model> model_;
  std::vector<int32_t> ids_;    // at most kCalibrationTokens
  std::vector<int32_t> start_;  // what begins every window
  uint32_t window_;
};

inline constexpr uint32_t kCalibrationTokens = 8192;

}  // namespace mote::convert
