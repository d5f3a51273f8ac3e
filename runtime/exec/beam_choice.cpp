// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "runtime/exec/beam_rules.h"
#include "runtime/exec/beam_search.h"
#include "runtime/exec/history.h"
#include "runtime/exec/session.h"

namespace mote {
namespace {

bool has_id(const int32_t* ids, uint32_t count, int32_t id) {
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] == id) return true;
  }
  return false;
}

bool is_stop(const mote_beam_run& run, int32_t id) {
  const mote_beam_options& options = run.options;
  if (has_id(options.stop_ids, options.stop_count, id)) return true;
  const auto* model = run.session->model->root->stop_ids();
  return options.ignore_model_stops == 0 && has_id(data_of(model), size_of(model), id);
}

bool ends_beam(const mote_beam_run& run, int32_t id) {
  return run.produced + 1 == run.options.max_tokens || is_stop(run, id);
}

/// The only token of this step, or -1.
int32_t forced_id(const mote_beam_run& run) {
  const mote_beam_options& options = run.options;
  if (run.produced + 1 == options.max_tokens && options.forced_last_id >= 0) return options.forced_last_id;
  return run.produced == 0 ? options.forced_first_id : -1;
}

BeamTokens tokens_of(const mote_beam_run& run, uint32_t beam) {
  const uint32_t sequence = run.produced == 0 ? 0 : beam;
  return {history_of(*run.session, sequence), run.session->lengths[sequence]};
}

bool may_choose(const mote_beam_run& run, uint32_t beam, int32_t id) {
  const mote_beam_options& options = run.options;
  if (has_id(options.suppressed_ids, options.suppressed_count, id)) return false;
  if (run.produced < options.min_tokens && is_stop(run, id)) return false;
  return !repeats_ngram(tokens_of(run, beam), options.no_repeat_ngram, id);
}

/// Keeps it if it is among the best; of equals the first one.
void offer(mote_beam_run& run, float score, uint32_t beam, int32_t id) {
  if (run.found == run.kept && !(score > run.best[run.kept - 1].score)) return;
  if (!may_choose(run, beam, id)) return;
  uint32_t at = run.found < run.kept ? run.found++ : run.kept - 1;
  for (; at > 0 && run.best[at - 1].score < score; --at) run.best[at] = run.best[at - 1];
  run.best[at] = {score, beam, id, false};
}

/// The logarithm of the sum of the exponentials.
float log_sum(const float* logits, uint32_t vocab, float largest) {
  double sum = 0;
  for (uint32_t i = 0; i < vocab; ++i) sum += expf(logits[i] - largest);
  return logf(static_cast<float>(sum));
}

/// Offers the continuations of one beam, not forced. The penalty is of log-probabilities, but where there is
/// one beam, which is a greedy search, of logits.
void offer_all(mote_beam_run& run, uint32_t beam) {
  const mote_beam_options& options = run.options;
  const uint32_t vocab = run.session->model->root->vocab();
  const float* const logits = mote_session_logits(run.session, run.produced == 0 ? 0 : beam);
  float largest = -INFINITY;
  for (uint32_t i = 0; i < vocab; ++i) largest = logits[i] > largest ? logits[i] : largest;
  const float sum = log_sum(logits, vocab, largest);
  const bool penalized = has_penalty(options), greedy = options.beams == 1;
  const BeamTokens tokens = tokens_of(run, beam);
  for (uint32_t i = 0; i < vocab; ++i) {
    const auto id = static_cast<int32_t>(i);
    float logit = logits[i];
    if (penalized && greedy) logit = penalize_repetition(tokens, options.repetition_penalty, id, logit);
    float score = logit - largest - sum;
    if (penalized && !greedy) score = penalize_repetition(tokens, options.repetition_penalty, id, score);
    offer(run, score + run.sums[beam], beam, id);
  }
}

bool all_ended(const mote_beam_run& run) {
  for (uint32_t i = 0; i < run.options.beams; ++i) {
    if (!run.hypotheses[i].ended) return false;
  }
  return true;
}

/// Puts a hypothesis in its place, in the memory of the one that drops out.
void insert_hypothesis(mote_beam_run& run, const BeamContinuation& last, float score) {
  const uint32_t beams = run.options.beams;
  BeamHypothesis* const list = run.hypotheses;
  if (!(score > list[beams - 1].score)) return;
  BeamHypothesis added = list[beams - 1];
  uint32_t at = beams - 1;
  for (; at > 0 && list[at - 1].score < score; --at) list[at] = list[at - 1];
  memcpy(added.ids, run.ids + uint64_t{last.beam} * run.options.max_tokens,
         run.produced * sizeof added.ids[0]);
  added.ids[run.produced] = last.id;
  added.count = run.produced + 1;
  added.score = score;
  added.ended = true;
  list[at] = added;
}

float of_length(float sum, uint32_t length, float penalty) {
  return sum / powf(static_cast<float>(length), penalty);
}

/// Only continuations among the best `beams` become hypotheses.
void collect_ended(mote_beam_run& run) {
  const mote_beam_options& options = run.options;
  if (!run.may_improve) return;
  if (options.early_stopping == MOTE_STOP_EARLY && all_ended(run)) return;
  for (uint32_t i = 0; i < run.found && i < options.beams; ++i) {
    const BeamContinuation& one = run.best[i];
    if (one.ends) insert_hypothesis(run, one, of_length(one.score, run.produced + 1, options.length_penalty));
  }
}

/// The best continuations that do not end become the beams; where there are too few, others that no one
/// chooses.
void choose_survivors(mote_beam_run& run) {
  const uint32_t beams = run.options.beams;
  uint32_t chosen = 0;
  for (const bool ends : {false, true}) {
    for (uint32_t i = 0; i < run.found && chosen < beams; ++i) {
      if (run.best[i].ends != ends) continue;
      run.survivors[chosen] = run.best[i];
      if (ends) run.survivors[chosen].score += kBeamOut;
      ++chosen;
    }
  }
  for (; chosen < beams; ++chosen) run.survivors[chosen] = run.survivors[0];
  const uint64_t row = run.options.max_tokens;
  for (uint32_t i = 0; i < beams; ++i) {
    const BeamContinuation& one = run.survivors[i];
    memcpy(run.next_ids + i * row, run.ids + one.beam * row, run.produced * sizeof run.ids[0]);
    run.next_ids[i * row + run.produced] = one.id;
    run.sums[i] = one.score;
  }
  int32_t* const old = run.ids;
  run.ids = run.next_ids;
  run.next_ids = old;
}

/// Says whether a beam may become better than the worst hypothesis, by a guess at its length.
bool may_improve(const mote_beam_run& run) {
  const mote_beam_options& options = run.options;
  if (!all_ended(run)) return true;
  const bool longest = options.early_stopping == MOTE_STOP_NEVER && options.length_penalty > 0;
  const uint32_t length = longest ? options.max_tokens : run.produced;
  return of_length(run.sums[0], length, options.length_penalty) > run.hypotheses[options.beams - 1].score;
}

bool has_open_beam(const mote_beam_run& run) {
  for (uint32_t i = 0; i < run.found; ++i) {
    if (!run.best[i].ends) return true;
  }
  return false;
}

}  // namespace

void offer_continuations(mote_beam_run& run, uint32_t beam) {
  const int32_t forced = forced_id(run);
  if (beam == 0) run.found = 0;
  if (forced >= 0) {
    run.best[run.found++] = {run.sums[beam], beam, forced, false};
  } else {
    offer_all(run, beam);
  }
}

bool choose_beams(mote_beam_run& run) {
  for (uint32_t i = 0; i < run.found; ++i) run.best[i].ends = ends_beam(run, run.best[i].id);
  collect_ended(run);
  choose_survivors(run);
  ++run.produced;
  run.may_improve = run.may_improve && may_improve(run);
  const bool full = run.options.early_stopping == MOTE_STOP_EARLY && all_ended(run);
  return run.may_improve && !full && has_open_beam(run);
}

}  // namespace mote
