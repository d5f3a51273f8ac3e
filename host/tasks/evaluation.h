// SPDX-License-Identifier: Apache-2.0
//
// Measures how well a model does: perplexity, distance to another file's predictions, exact answers, labels
// and likeness of texts that people have judged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/constraint.h"
#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"
#include "host/tasks/text_encoder.h"

namespace mote::host {

/// Sums over the tokens that were predicted.
struct PredictionScore {
  uint64_t tokens = 0, same_top = 0;
  double nll = 0, other_nll = 0, kl = 0;

  double mean(double sum) const { return sum / static_cast<double>(tokens); }
};

/// A session that predicts every token of a text.
class Predictor {
 public:
  /// `window`: the context unless the choices have one. The model must outlive the predictor.
  static Result<Predictor> make(const Model& model, const SessionChoices& choices, uint32_t window);

  const Model& model() const { return *model_; }
  const Session& session() const { return session_; }
  uint32_t chunk() const { return chunk_; }
  size_t memory_bytes() const { return session_.arena_bytes(); }
  /// Begins an empty sequence.
  Status begin_window();
  /// Computes the logits of each of at most chunk() tokens; logits(row) are those of the last call. Once it
  /// was stopped it returns cancelled().
  Status compute(std::span<const int32_t> ids, const Hooks& hooks);
  const float* logits(uint32_t row) const { return mote_session_logits(session_.get(), row); }

 private:
  explicit Predictor(const Model& model) : model_(&model) {}

  const Model* model_;
  uint32_t chunk_ = 0;
  Session session_;
};

/// Scores each token but the first of each window by what came before it, and compares with `other` unless
/// that is null. Fails for logits that are not finite.
Result<PredictionScore> score_prediction(std::span<const int32_t> ids, uint32_t window, Predictor& model,
                                         Predictor* other, const Hooks& hooks);

struct Question {
  std::string text, answer;
};
/// Returns how many questions are answered exactly: greedily, in the model's chat format or, where it has
/// none, by continuing the question. Answers keep to the grammar. White space around answers does not count.
Result<uint64_t> count_exact(const Model& model, Session& session, std::span<const Question> questions,
                             const GrammarPlan& grammar, const Hooks& hooks);

struct LabelScore {
  uint64_t lines = 0, right = 0;
  double macro_f1 = 0;     // the mean of f1
  std::vector<double> f1;  // of each label
  double accuracy() const {
    return lines == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(lines);
  }
};
/// Compares the likeliest label of each text with the one that it has.
Result<LabelScore> score_labels(TextEncoder& encoder, std::span<const std::string> texts,
                                std::span<const uint32_t> labels, const Hooks& hooks);

/// Returns Spearman's correlation of scores with the cosines of the vectors of pairs of texts.
Result<double> score_pairs(TextEncoder& encoder, std::span<const std::string> first,
                           std::span<const std::string> second, const std::vector<double>& scores,
                           const Hooks& hooks);

/// Returns Spearman's correlation: Pearson's of the ranks, equal values sharing their mean rank; 0 where one
/// does not vary.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace mote::host
