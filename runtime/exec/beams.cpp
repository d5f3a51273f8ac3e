// SPDX-License-Identifier: Apache-2.0
//
// Beam search as transformers does it. A step takes the best continuations of all beams, more of them than
// there are beams, because those that end are no beams any longer. A beam that ended is a hypothesis, scored
// by its sum of log-probabilities over a power of its length; the best hypotheses are kept.
#include <math.h>
#include <string.h>

#include "mote/beams.h"
#include "runtime/error.h"
#include "runtime/exec/arena.h"
#include "runtime/exec/beam_rules.h"
#include "runtime/exec/history.h"
#include "runtime/exec/saturating.h"
#include "runtime/exec/session.h"

namespace mote {
namespace {

constexpr float kBeamOut = -1e9f;  // added to scores that may not be chosen
constexpr uint32_t kMostBeams = 256;

/// A beam with a further token.
struct Continuation {
  float score;  // sum of log-probabilities
  uint32_t beam;
  int32_t id;
  bool ends;
};

struct Hypothesis {
  float score;
  bool ended;
  uint32_t count;
  int32_t* ids;  // [max_tokens]
};

struct BeamSearch {
  mote_session* session;
  mote_beam_options options;
  uint32_t stops;  // ids that end a beam, the model's included
  uint32_t kept;   // continuations of a step
  uint32_t found;  // of them in this step
  uint32_t produced;
  bool may_improve;
  Continuation* best;       // [kept], descending
  float* sums;              // [beams]
  int32_t* ids;             // [beams, max_tokens]
  int32_t* next_ids;        // the same, of the next step
  Hypothesis* hypotheses;   // [beams], descending
  uint32_t* from;           // [batch]
  int32_t* tokens;          // [batch]
  Continuation* survivors;  // [beams]
};

bool has_id(const int32_t* ids, uint32_t count, int32_t id) {
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] == id) return true;
  }
  return false;
}

bool is_stop(const BeamSearch& search, int32_t id) {
  const mote_beam_options& options = search.options;
  if (has_id(options.stop_ids, options.stop_count, id)) return true;
  const auto* model = search.session->model->root->stop_ids();
  return options.ignore_model_stops == 0 && has_id(data_of(model), size_of(model), id);
}

bool ends_beam(const BeamSearch& search, int32_t id) {
  return search.produced + 1 == search.options.max_tokens || is_stop(search, id);
}

/// The only token of this step, or -1.
int32_t forced_id(const BeamSearch& search) {
  const mote_beam_options& options = search.options;
  if (search.produced + 1 == options.max_tokens && options.forced_last_id >= 0) return options.forced_last_id;
  return search.produced == 0 ? options.forced_first_id : -1;
}

BeamTokens tokens_of(const BeamSearch& search, uint32_t beam) {
  const uint32_t sequence = search.produced == 0 ? 0 : beam;
  return {history_of(*search.session, sequence), search.session->lengths[sequence]};
}

bool may_choose(const BeamSearch& search, uint32_t beam, int32_t id) {
  const mote_beam_options& options = search.options;
  if (has_id(options.suppressed_ids, options.suppressed_count, id)) return false;
  if (search.produced < options.min_tokens && is_stop(search, id)) return false;
  return !repeats_ngram(tokens_of(search, beam), options.no_repeat_ngram, id);
}

/// Keeps it if it is among the best; of equals the first one.
void offer(BeamSearch& search, float score, uint32_t beam, int32_t id) {
  if (search.found == search.kept && !(score > search.best[search.kept - 1].score)) return;
  if (!may_choose(search, beam, id)) return;
  uint32_t at = search.found < search.kept ? search.found++ : search.kept - 1;
  for (; at > 0 && search.best[at - 1].score < score; --at) search.best[at] = search.best[at - 1];
  search.best[at] = {score, beam, id, false};
}

/// The logarithm of the sum of the exponentials.
float log_sum(const float* logits, uint32_t vocab, float largest) {
  double sum = 0;
  for (uint32_t i = 0; i < vocab; ++i) sum += expf(logits[i] - largest);
  return logf(static_cast<float>(sum));
}

/// The continuations of one beam, not forced. The penalty is of log-probabilities, but where there is one
/// beam, which is a greedy search, of logits.
void offer_all(BeamSearch& search, uint32_t beam) {
  const mote_beam_options& options = search.options;
  const uint32_t vocab = search.session->model->root->vocab();
  const float* const logits = mote_session_logits(search.session, search.produced == 0 ? 0 : beam);
  float largest = -INFINITY;
  for (uint32_t i = 0; i < vocab; ++i) largest = logits[i] > largest ? logits[i] : largest;
  const float sum = log_sum(logits, vocab, largest);
  const bool penalized = has_penalty(options), greedy = options.beams == 1;
  const BeamTokens tokens = tokens_of(search, beam);
  for (uint32_t i = 0; i < vocab; ++i) {
    const auto id = static_cast<int32_t>(i);
    float logit = logits[i];
    if (penalized && greedy) logit = penalize_repetition(tokens, options.repetition_penalty, id, logit);
    float score = logit - largest - sum;
    if (penalized && !greedy) score = penalize_repetition(tokens, options.repetition_penalty, id, score);
    offer(search, score + search.sums[beam], beam, id);
  }
}

void find_best(BeamSearch& search) {
  const int32_t forced = forced_id(search);
  search.found = 0;
  for (uint32_t beam = 0; beam < search.options.beams; ++beam) {
    if (forced >= 0) {
      search.best[search.found++] = {search.sums[beam], beam, forced, false};
      continue;
    }
    offer_all(search, beam);
  }
  for (uint32_t i = 0; i < search.found; ++i) search.best[i].ends = ends_beam(search, search.best[i].id);
}

bool all_ended(const BeamSearch& search) {
  for (uint32_t i = 0; i < search.options.beams; ++i) {
    if (!search.hypotheses[i].ended) return false;
  }
  return true;
}

/// Puts a hypothesis in its place, in the memory of the one that drops out.
void insert_hypothesis(BeamSearch& search, const Continuation& last, float score) {
  const uint32_t beams = search.options.beams;
  Hypothesis* const list = search.hypotheses;
  if (!(score > list[beams - 1].score)) return;
  Hypothesis added = list[beams - 1];
  uint32_t at = beams - 1;
  for (; at > 0 && list[at - 1].score < score; --at) list[at] = list[at - 1];
  memcpy(added.ids, search.ids + uint64_t{last.beam} * search.options.max_tokens,
         search.produced * sizeof added.ids[0]);
  added.ids[search.produced] = last.id;
  added.count = search.produced + 1;
  added.score = score;
  added.ended = true;
  list[at] = added;
}

float of_length(float sum, uint32_t length, float penalty) {
  return sum / powf(static_cast<float>(length), penalty);
}

/// Only continuations among the best `beams` become hypotheses.
void collect_ended(BeamSearch& search) {
  const mote_beam_options& options = search.options;
  if (!search.may_improve) return;
  if (options.early_stopping == MOTE_STOP_EARLY && all_ended(search)) return;
  for (uint32_t i = 0; i < search.found && i < options.beams; ++i) {
    const Continuation& one = search.best[i];
    if (one.ends)
      insert_hypothesis(search, one, of_length(one.score, search.produced + 1, options.length_penalty));
  }
}

/// The best continuations that do not end become the beams; where there are too few, others that no one
/// chooses.
void choose_survivors(BeamSearch& search) {
  const uint32_t beams = search.options.beams;
  uint32_t chosen = 0;
  for (const bool ends : {false, true}) {
    for (uint32_t i = 0; i < search.found && chosen < beams; ++i) {
      if (search.best[i].ends != ends) continue;
      search.survivors[chosen] = search.best[i];
      if (ends) search.survivors[chosen].score += kBeamOut;
      ++chosen;
    }
  }
  for (; chosen < beams; ++chosen) search.survivors[chosen] = search.survivors[0];
  const uint64_t row = search.options.max_tokens;
  for (uint32_t i = 0; i < beams; ++i) {
    const Continuation& one = search.survivors[i];
    memcpy(search.next_ids + i * row, search.ids + one.beam * row, search.produced * sizeof search.ids[0]);
    search.next_ids[i * row + search.produced] = one.id;
    search.sums[i] = one.score;
  }
  int32_t* const old = search.ids;
  search.ids = search.next_ids;
  search.next_ids = old;
}

/// Says whether a beam may become better than the worst hypothesis, by a guess at its length.
bool may_improve(const BeamSearch& search) {
  const mote_beam_options& options = search.options;
  if (!all_ended(search)) return true;
  const bool longest = options.early_stopping == MOTE_STOP_NEVER && options.length_penalty > 0;
  const uint32_t length = longest ? options.max_tokens : search.produced;
  return of_length(search.sums[0], length, options.length_penalty) >
         search.hypotheses[options.beams - 1].score;
}

bool has_open_beam(const BeamSearch& search) {
  for (uint32_t i = 0; i < search.found; ++i) {
    if (!search.best[i].ends) return true;
  }
  return false;
}

/// Sequences become those of the survivors and get their tokens.
mote_status append_tokens(BeamSearch& search, mote_error* error) {
  const uint32_t batch = search.session->options.batch, beams = search.options.beams;
  for (uint32_t i = 0; i < batch; ++i) {
    const bool is_beam = i < beams;
    search.from[i] = !is_beam ? i : search.produced == 1 ? 0 : search.survivors[i].beam;
    search.tokens[i] = is_beam ? search.survivors[i].id : -1;
  }
  const mote_status status = mote_session_reorder(search.session, search.from, error);
  return status != MOTE_OK ? status : mote_decode(search.session, search.tokens, error);
}

/// Ids that end a beam, the model's included.
uint64_t count_stops(const mote_session* session, const mote_beam_options& options) {
  const uint64_t of_model = options.ignore_model_stops == 0 ? size_of(session->model->root->stop_ids()) : 0;
  return options.stop_count + of_model;
}

/// Continuations of a step that are kept.
uint64_t count_kept(const mote_session* session, const mote_beam_options& options) {
  const uint64_t stops = count_stops(session, options);
  return saturating_multiply(options.beams, stops > 1 ? 1 + stops : 2);
}

mote_status check_beams(const mote_session* session, const mote_beam_options& options, mote_error* error) {
  const uint32_t vocab = session->model->root->vocab();
  if (options.beams == 0 || options.beams > kMostBeams || options.beams > session->options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, options.beams, " beams, the session has ",
                session->options.batch, " sequences");
  }
  if (options.max_tokens == 0 || options.max_tokens > session->options.context) {
    return fail(error, MOTE_INVALID_ARGUMENT, options.max_tokens, " tokens at most, the context is ",
                session->options.context);
  }
  if ((options.stop_ids == nullptr && options.stop_count != 0) ||
      (options.suppressed_ids == nullptr && options.suppressed_count != 0)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  }
  if (count_kept(session, options) > UINT32_MAX) {
    return fail(error, MOTE_INVALID_ARGUMENT, options.stop_count, " stop ids for ", options.beams,
                " beams; give fewer");
  }
  if (!isfinite(options.length_penalty)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "the length penalty is no number");
  }
  if (!isfinite(options.repetition_penalty) || options.repetition_penalty < 0) {
    return fail(error, MOTE_INVALID_ARGUMENT, "the repetition penalty is not above 0");
  }
  for (const int32_t id : {options.forced_first_id, options.forced_last_id}) {
    if (id >= 0 && static_cast<uint32_t>(id) >= vocab)
      return fail(error, MOTE_INVALID_ARGUMENT, "forced id ", id, ", this model has 0 to ", vocab - 1);
  }
  return MOTE_OK;
}

/// Places of everything; counts bytes alone where the arena has no memory.
void take_search(Arena& arena, BeamSearch& search) {
  const mote_beam_options& options = search.options;
  const uint64_t beams = options.beams, ids = beams * options.max_tokens;
  search.stops = static_cast<uint32_t>(count_stops(search.session, options));
  search.kept = static_cast<uint32_t>(count_kept(search.session, options));
  search.best = arena.take<Continuation>(search.kept);
  search.survivors = arena.take<Continuation>(beams);
  search.sums = arena.take<float>(beams);
  search.ids = arena.take<int32_t>(ids);
  search.next_ids = arena.take<int32_t>(ids);
  search.hypotheses = arena.take<Hypothesis>(beams);
  int32_t* const ended = arena.take<int32_t>(ids);
  search.from = arena.take<uint32_t>(search.session->options.batch);
  search.tokens = arena.take<int32_t>(search.session->options.batch);
  if (ended == nullptr) return;
  for (uint32_t i = 0; i < options.beams; ++i) {
    search.hypotheses[i] = {kBeamOut, false, 0, ended + uint64_t{i} * options.max_tokens};
    search.sums[i] = i == 0 ? 0 : kBeamOut;
  }
}

mote_status run_search(BeamSearch& search, mote_error* error) {
  while (true) {
    find_best(search);
    collect_ended(search);
    choose_survivors(search);
    ++search.produced;
    search.may_improve = search.may_improve && may_improve(search);
    const bool full = search.options.early_stopping == MOTE_STOP_EARLY && all_ended(search);
    if (!search.may_improve || full || !has_open_beam(search)) return MOTE_OK;
    const mote_status status = append_tokens(search, error);
    if (status != MOTE_OK) return status;
  }
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

mote_beam_options mote_model_beam_options(const mote_model* model) {
  mote_beam_options options = mote_beam_options_default();
  const mote::file::BeamSearch* search = model->root->beam_search();
  if (search == nullptr) return options;
  options.beams = search->beams();
  options.max_tokens = search->max_tokens();
  options.length_penalty = search->length_penalty();
  options.early_stopping = static_cast<mote_beam_stop>(search->stop());
  options.forced_first_id = search->forced_first_id();
  options.forced_last_id = search->forced_last_id();
  options.min_tokens = search->min_tokens();
  options.no_repeat_ngram = search->no_repeat_ngram();
  options.repetition_penalty = search->repetition_penalty();
  options.suppressed_ids = mote::data_of(search->suppressed_ids());
  options.suppressed_count = mote::size_of(search->suppressed_ids());
  return options;
}

mote_beam_options mote_beam_options_default(void) {
  mote_beam_options options{};
  options.beams = 1;
  options.length_penalty = 1.0f;
  options.forced_first_id = options.forced_last_id = -1;
  return options;
}

size_t mote_beam_bytes(const mote_session* session, const mote_beam_options* options) {
  if (options == nullptr || mote::check_beams(session, *options, nullptr) != MOTE_OK) return 0;
  mote::BeamSearch search{};
  search.session = const_cast<mote_session*>(session);
  search.options = *options;
  mote::Arena arena(mote::Arena::Gaps::none);
  mote::take_search(arena, search);
  return arena.used() <= SIZE_MAX / 2 ? static_cast<size_t>(arena.used()) : 0;  // no object is larger
}

mote_status mote_beam_search(mote_session* session, const mote_beam_options* options, void* memory,
                             size_t memory_bytes, mote_beam* beams, mote_error* error) {
  if (options == nullptr || memory == nullptr || beams == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % 8 != 0)
    return fail(error, MOTE_NOT_ALIGNED, "the memory of a beam search must be 8-byte aligned");
  mote_status status = mote::check_ids_alone(session, error);
  if (status == MOTE_OK) status = mote::check_beams(session, *options, error);
  if (status != MOTE_OK) return status;
  const size_t bytes = mote_beam_bytes(session, options);
  if (memory_bytes < bytes || bytes == 0)
    return fail(error, MOTE_TOO_SMALL, "beam search takes more memory than ", uint64_t{memory_bytes},
                " bytes");
  if (session->run.active || mote_session_logits(session, 0) == nullptr)
    return fail(error, MOTE_WRONG_STATE, "beam search needs the logits of an earlier call");
  mote::BeamSearch search{};
  search.session = session;
  search.options = *options;
  search.may_improve = true;
  mote::Arena arena(memory, memory_bytes, mote::Arena::Gaps::none);
  mote::take_search(arena, search);
  status = mote::run_search(search, error);
  if (status != MOTE_OK) return status;
  for (uint32_t i = 0; i < options->beams; ++i)
    beams[i] = {search.hypotheses[i].ids, search.hypotheses[i].count, search.hypotheses[i].score};
  return MOTE_OK;
}

}  // extern "C"
