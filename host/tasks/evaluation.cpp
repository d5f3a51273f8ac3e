// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/generation.h"
#include "host/tasks/text.h"
#include "host/tasks/vectors.h"

namespace mote::host {
namespace {

constexpr size_t kEvaluatedAtOnce = 64;  // texts that an encoder gets

double share_of(size_t done, size_t all) { return static_cast<double>(done) / static_cast<double>(all); }

/// Returns log(sum(exp(logits))).
double log_sum(const float* logits, uint32_t vocab) {
  const double most = *std::max_element(logits, logits + vocab);
  double sum = 0;
  for (uint32_t i = 0; i < vocab; ++i) sum += std::exp(logits[i] - most);
  return most + std::log(sum);
}

/// Returns KL(other || model) of the next token: the sum of q log(q / p).
double divergence(const float* logits, double norm, const float* other, double other_norm, uint32_t vocab) {
  double sum = 0;
  for (uint32_t i = 0; i < vocab; ++i) {
    const double log_q = other[i] - other_norm;
    const double q = std::exp(log_q);
    if (q > 0) sum += q * (log_q - (logits[i] - norm));
  }
  return sum;
}

void score_row(const Predictor& model, const Predictor* other, uint32_t row, int32_t target,
               PredictionScore& score) {
  const uint32_t vocab = model.model().info().vocab;
  const float* logits = model.logits(row);
  const double norm = log_sum(logits, vocab);
  score.tokens += 1;
  score.nll += norm - logits[target];
  if (other == nullptr) return;
  const float* other_logits = other->logits(row);
  const double other_norm = log_sum(other_logits, vocab);
  score.other_nll += other_norm - other_logits[target];
  score.kl += divergence(logits, norm, other_logits, other_norm, vocab);
  score.same_top += std::max_element(logits, logits + vocab) - logits ==
                    std::max_element(other_logits, other_logits + vocab) - other_logits;
}

Result<std::vector<int32_t>> question_ids(const Model& model, const Session& session,
                                          const std::string& text) {
  if (mote_chat_format(model.get()) == nullptr) return tokenize(model, session, text, MOTE_ADD_SPECIAL);
  const mote_message message{MOTE_ROLE_USER, text.data(), text.size(), 0, 0, {}};
  return tokenize_chat(model, session, {&message, 1}, true);
}

/// Calls use(index of the text, first row of outputs) for each text, in order.
template <class Use>
Status encode_texts(TextEncoder& encoder, std::span<const std::string> texts, const char* stage,
                    const Hooks& hooks, Use use) {
  for (size_t first = 0; first < texts.size(); first += kEvaluatedAtOnce) {
    hooks.tell(stage, share_of(first, texts.size()));
    std::vector<EncodedText> some;
    for (const std::string& text : texts.subspan(first, std::min(kEvaluatedAtOnce, texts.size() - first))) {
      MOTE_TAKE(EncodedText one, encoder.tokenize(text, hooks));
      some.push_back(std::move(one));
    }
    MOTE_TRY(encoder.encode(some, hooks, [&](size_t i, uint32_t row) { use(first + i, row); }));
  }
  return {};
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    for (end = first + 1; end < order.size() && values[order[end]] == values[order[first]];) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
  }
  return ranks;
}

}  // namespace

Result<Predictor> Predictor::make(const Model& model, const SessionChoices& choices, uint32_t window) {
  Predictor predictor(model);
  mote_session_options options = session_options(model, choices);
  if (choices.context == 0) options.context = window;
  // All tokens have logits here: a row of the whole vocabulary each.
  if (choices.chunk == 0) options.chunk = mote_session_options_default(model.get()).chunk;
  options.logit_rows = options.chunk;
  predictor.chunk_ = options.chunk;
  MOTE_TAKE(predictor.session_, Session::begin(model, options));
  return predictor;
}

Status Predictor::begin_window() {
  mote_error error = {};
  return from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name());
}

Status Predictor::compute(std::span<const int32_t> ids, const Hooks& hooks) {
  std::vector<mote_row> rows;
  for (const int32_t id : ids) rows.push_back({0, id, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  return host::compute(session_, call, hooks, model_->name());
}

Result<PredictionScore> score_prediction(std::span<const int32_t> ids, uint32_t window, Predictor& model,
                                         Predictor* other, const Hooks& hooks) {
  PredictionScore score;
  const uint32_t most = std::min(model.chunk(), other == nullptr ? UINT32_MAX : other->chunk());
  for (size_t begin = 0; begin + 1 < ids.size(); begin += window) {
    const auto length = static_cast<uint32_t>(std::min<size_t>(window, ids.size() - begin));
    MOTE_TRY(model.begin_window());
    if (other != nullptr) MOTE_TRY(other->begin_window());
    // The last token only has to be predicted.
    for (uint32_t at = 0; at + 1 < length;) {
      hooks.tell("perplexity", share_of(begin + at, ids.size()));
      const uint32_t n = std::min(most, length - 1 - at);
      const std::span<const int32_t> some = ids.subspan(begin + at, n);
      MOTE_TRY(model.compute(some, hooks));
      if (other != nullptr) MOTE_TRY(other->compute(some, hooks));
      for (uint32_t row = 0; row < n; ++row) score_row(model, other, row, ids[begin + at + row + 1], score);
      at += n;
    }
    if (std::isfinite(score.nll) && std::isfinite(score.other_nll)) continue;
    return failed(Remedy::verify,
                  "{}: logits that are not finite in the window at token {}; the weights may be damaged",
                  std::isfinite(score.nll) ? other->model().name() : model.model().name(), begin);
  }
  return score;
}

Result<uint64_t> count_exact(const Model& model, Session& session, std::span<const Question> questions,
                             const GrammarPlan& grammar, const Hooks& hooks) {
  GenerationPlan plan{mote_generation_default(), {}, {}, {}, ""};
  plan.grammar = grammar;
  uint32_t shortest = 0;
  if (grammar.tables != nullptr) {
    MOTE_TAKE(const auto constraint, AnswerConstraint::begin(grammar));
    MOTE_TAKE(shortest, constraint->need());
  }
  uint64_t equal = 0;
  size_t done = 0;
  for (const Question& question : questions) {
    hooks.tell("exact", share_of(done++, questions.size()));
    mote_error error = {};
    MOTE_TRY(from_core(mote_session_truncate(session.get(), 0, 0, &error), error, model.name()));
    MOTE_TAKE(const std::vector<int32_t> ids, question_ids(model, session, question.text));
    MOTE_TAKE(const std::vector<int32_t> expected, tokenize(model, session, question.answer, 0));
    plan.generation.max_tokens = static_cast<uint32_t>(expected.size()) + 8;  // a longer answer is wrong
    plan.generation.max_tokens = std::max(plan.generation.max_tokens, shortest);
    MOTE_TAKE(const Answer answer, generate(model, session, ids, plan, hooks, {}));
    if (answer.finish == MOTE_FINISH_CANCELLED) return cancelled();
    equal += trimmed(answer.text) == question.answer ? 1 : 0;
  }
  return equal;
}

Result<LabelScore> score_labels(TextEncoder& encoder, std::span<const std::string> texts,
                                std::span<const uint32_t> labels, const Hooks& hooks) {
  const uint32_t count = encoder.output().labels;
  LabelScore score;
  std::vector<uint64_t> hits(count), given(count), found(count);
  MOTE_TRY(encode_texts(encoder, texts, "accuracy", hooks, [&](size_t i, uint32_t row) {
    const std::vector<float> logits = encoder.row(row);
    const auto best = static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    ++score.lines;
    ++given[labels[i]];
    ++found[best];
    score.right += best == labels[i] ? 1 : 0;
    hits[best] += best == labels[i] ? 1 : 0;
  }));
  for (uint32_t i = 0; i < count; ++i) {
    const double both = static_cast<double>(given[i] + found[i]);
    score.f1.push_back(both == 0 ? 0.0 : 2 * static_cast<double>(hits[i]) / both);
    score.macro_f1 += score.f1.back() / count;
  }
  return score;
}

Result<double> score_pairs(TextEncoder& encoder, std::span<const std::string> first,
                           std::span<const std::string> second, const std::vector<double>& scores,
                           const Hooks& hooks) {
  std::vector<std::vector<float>> vectors;
  std::vector<double> cosines;
  MOTE_TRY(encode_texts(encoder, first, "first texts", hooks,
                        [&](size_t, uint32_t row) { vectors.push_back(encoder.row(row)); }));
  MOTE_TRY(encode_texts(encoder, second, "second texts", hooks, [&](size_t i, uint32_t row) {
    cosines.push_back(cosine(vectors[i], encoder.row(row)));
  }));
  return spearman(scores, cosines);
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx * yy > 0 ? xy / std::sqrt(xx * yy) : 0.0;
}

}  // namespace mote::host
