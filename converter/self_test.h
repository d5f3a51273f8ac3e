// SPDX-License-Identifier: Apache-2.0
//
// Runs the converted model on the reference kernels, through the public API like any application.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "converter/convert.h"
#include "converter/metadata.h"
#include "mote/mote.h"

namespace mote::convert {

/// How much a self test computes. Where tokens are only parts of groups, there are enough for several groups.
/// Prompt and continuation together take about 2 G multiply-accumulates, but at least one token and at most
/// 24, two thirds of it prompt.
struct SelfTestPlan {
  uint32_t prompt;
  uint32_t continuation;
  uint32_t input_width = 0;  // floats of a row of the prompt; 0: ids
  // Rows of a source and floats of each; 0: the prompt's ids are the source's rows, if there is a source.
  uint32_t source_rows = 0, source_width = 0;

  uint64_t values() const { return uint64_t{prompt} * input_width + uint64_t{source_rows} * source_width; }
};
SelfTestPlan plan_self_test(const Graph& graph);

/// A converted file opened by the runtime. Throws Error if the runtime refuses it: then the converter is
/// wrong.
class OpenedModel {
 public:
  explicit OpenedModel(const std::filesystem::path& path);

  /// The prompt's ids are fixed by the vocabulary, its floats by their place; an encoder has no continuation,
  /// and its "logits" are the first row of its outputs. The greedy continuation ends early where the best two
  /// logits are closer than twice the tolerance, since a target may then choose the other.
  ///
  /// Tolerance, absolute on logits: 1e-4 of the largest magnitude among them, which counts as at least 1 but
  /// for embeddings, where all weights are f32. With other weights, activations (or keys and values) are
  /// rounded to few bits, so another order of a sum, or another exp, in an early layer flips roundings
  /// everywhere after it, and how far that moves the logits is the model's own matter. It is measured, by
  /// runs with keys and values of the other types, over all rows of an encoder's outputs and, where these are
  /// few, over several prompts; and taken three times; at least 2e-3.
  SelfTestRecord run(const SelfTestPlan& plan, DType coarsest) const;

  /// Runs the ids through an encoder, or, where there are none, the plan's prompt, with `take` called for its
  /// probes. Keys and values are f32.
  void trace(const SelfTestPlan& plan, const std::vector<int32_t>& ids, mote_trace take, void* user) const;

  const mote_model* get() const { return model_; }

  /// Arena bytes at context lengths up to the model's.
  std::vector<MemoryReport> memory() const;

 private:
  MappedFile file_;
  std::vector<uint64_t> storage_;
  mote_model* model_ = nullptr;
};

}  // namespace mote::convert
