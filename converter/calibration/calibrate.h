// SPDX-License-Identifier: Apache-2.0
//
// A decoder's roundings by a text: inputs are smoothed, and each weight of at most 6 bits gets the
// ErrorFeedback of what it meets then.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "converter/calibration/error_feedback.h"
#include "converter/calibration/text_run.h"

namespace mote::convert {

class Calibration {
 public:
  /// Smooths the inputs of `graph`, which must outlive it. `tokenizer` may be null and the rest is as for
  /// TextRun. Throws Error: for an encoder, whose activations are smoothed without a text; without a
  /// tokenizer; where nothing is rounded.
  Calibration(Graph& graph, const TokenizerTables* tokenizer, const std::string& text,
              const std::filesystem::path& target, const TextRun::Progress& progress);

  /// Returns the feedback of the weight with this index; null where the weight is not rounded to 6 bits or
  /// fewer, or no linear reads it token by token. Runs the model for as many of the weights from this one on
  /// as 1 GiB has room for. Is called for one index after another. Throws Error.
  std::unique_ptr<const ErrorFeedback> take(size_t weight);

  /// For the report.
  std::string describe() const;

 private:
  void find_inputs();
  void run_from(size_t weight);

  const Graph& graph_;
  std::unique_ptr<TextRun> text_;
  size_t smoothed_ = 0;
  std::map<size_t, std::set<uint32_t>> inputs_;  // of each calibrated weight: nodes that quantize them
  std::map<size_t, ErrorFeedback> made_;
};

}  // namespace mote::convert
