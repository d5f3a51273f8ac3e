// SPDX-License-Identifier: Apache-2.0
//
// Beam search as transformers does it. A step takes the best continuations of all beams, more of them than
// there are beams, because those that end are no beams any longer. A beam that ended is a hypothesis, scored
// by its sum of log-probabilities over a power of its length; the best hypotheses are kept.
#include "mote/beams.h"

#include <math.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/arena.h"
#include "runtime/exec/beam_search.h"
#include "runtime/exec/compute.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/guesses.h"
#include "runtime/exec/saturating.h"

namespace mote {
namespace {

constexpr uint32_t kMostBeams = 256;

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

bool has_guesses(const mote_beam_run& run) {
  return kHasSpeculation && run.options.guesses != nullptr && run.options.beams == 1;
}

/// Hands out the places of everything but the run itself; counts bytes alone where the arena has no memory.
void take_search(Arena& arena, mote_beam_run& run) {
  const mote_beam_options& options = run.options;
  const uint64_t beams = options.beams, ids = beams * options.max_tokens;
  run.kept = static_cast<uint32_t>(count_kept(run.session, options));
  run.best = arena.take<BeamContinuation>(run.kept);
  run.survivors = arena.take<BeamContinuation>(beams);
  run.sums = arena.take<float>(beams);
  run.ids = arena.take<int32_t>(ids);
  run.next_ids = arena.take<int32_t>(ids);
  run.hypotheses = arena.take<BeamHypothesis>(beams);
  int32_t* const ended = arena.take<int32_t>(ids);
  run.from = arena.take<uint32_t>(run.session->options.batch);
  run.tokens = arena.take<int32_t>(run.session->options.batch);
  if (ended == nullptr) return;
  for (uint32_t i = 0; i < options.beams; ++i) {
    run.hypotheses[i] = {kBeamOut, false, 0, ended + uint64_t{i} * options.max_tokens};
    run.sums[i] = i == 0 ? 0 : kBeamOut;
  }
}

/// Makes the logits of a guess that stands those of row 0, as if a run of its own had computed them.
void show_guessed_logits(const mote_session& session) {
  const ConstRows& outputs = current(session).outputs;
  const float* const from = outputs[static_cast<size_t>(session.logit_index[session.generation.row])];
  float* const to = const_cast<float*>(outputs[static_cast<size_t>(session.logit_index[0])]);
  memcpy(to, from, session.model->root->vocab() * sizeof *to);
}

/// Begins the run of a greedy search's token and of guesses of those behind it, unless an earlier run has
/// guessed and computed it.
mote_status begin_greedy(mote_beam_run& run, mote_error* error) {
  const int32_t id = run.survivors[0].id;
  compare_guess(*run.session, run.options.guesses, id);
  if (take_guess(run.session, id)) {
    show_guessed_logits(*run.session);
    return MOTE_OK;
  }
  const mote_status status = check_room(run.session, 0, 1, error);
  if (status != MOTE_OK) return status;
  end_run(run.session);
  begin_guessed(run.session, run.options.guesses, id, run.options.max_tokens - run.produced - 1);
  return MOTE_OK;
}

/// Begins the run that computes the beams' tokens: sequences become those of the survivors.
mote_status begin_tokens(mote_beam_run& run, mote_error* error) {
  if (has_guesses(run)) return begin_greedy(run, error);
  const uint32_t batch = run.session->options.batch, beams = run.options.beams;
  for (uint32_t i = 0; i < batch; ++i) {
    const bool is_beam = i < beams;
    run.from[i] = !is_beam ? i : run.produced == 1 ? 0 : run.survivors[i].beam;
    run.tokens[i] = is_beam ? run.survivors[i].id : -1;
  }
  const mote_status status = mote_session_reorder(run.session, run.from, error);
  return status != MOTE_OK ? status : begin_decode(run.session, run.tokens, error);
}

/// Says whether the session has the logits of all beams, and their tokens as the search has left them.
bool has_beams(const mote_beam_run& run) {
  const uint32_t beams = run.produced == 0 ? 1 : run.options.beams;
  for (uint32_t i = 0; i < beams; ++i) {
    if (run.session->lengths[i] != run.begun_at + run.produced) return false;
    if (mote_session_logits(run.session, i) == nullptr) return false;
  }
  return true;
}

/// Offers the continuations of the next beam; behind the last one chooses and begins to compute the chosen.
mote_status choose_next(mote_beam_run& run, mote_error* error) {
  if (!has_beams(run)) return fail(error, MOTE_WRONG_STATE, "another call has ended this beam search");
  offer_continuations(run, run.next_beam);
  if (++run.next_beam < run.options.beams) return MOTE_OK;
  run.next_beam = 0;
  run.done = !choose_beams(run);
  return run.done ? MOTE_OK : begin_tokens(run, error);
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
  mote_beam_run run{};
  run.session = const_cast<mote_session*>(session);
  run.options = *options;
  mote::Arena arena(mote::Arena::Gaps::none);
  arena.take<mote_beam_run>(1);
  mote::take_search(arena, run);
  return arena.used() <= SIZE_MAX / 2 ? static_cast<size_t>(arena.used()) : 0;  // no object is larger
}

mote_status mote_beam_begin(mote_session* session, const mote_beam_options* options, void* memory,
                            size_t memory_bytes, mote_beam_run** run, mote_error* error) {
  if (options == nullptr || memory == nullptr || run == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % alignof(mote_beam_run) != 0)
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
  session->generation = {};
  mote::Arena arena(memory, memory_bytes, mote::Arena::Gaps::none);
  mote_beam_run* const made = arena.take<mote_beam_run>(1);
  *made = {};
  made->session = session;
  made->options = *options;
  made->may_improve = true;
  made->begun_at = session->lengths[0];
  mote::take_search(arena, *made);
  *run = made;
  return MOTE_OK;
}

mote_status mote_beam_step(mote_beam_run* run, uint32_t max_ops, int* done, mote_error* error) {
  if (run == nullptr || done == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  for (bool goes_on = !run->done; goes_on; goes_on = max_ops == 0 && !run->done) {
    if (run->session->run.active) {
      mote::continue_run(run->session, max_ops);
      continue;
    }
    const mote_status status = mote::choose_next(*run, error);
    if (status != MOTE_OK) return status;
  }
  *done = run->done ? 1 : 0;
  return MOTE_OK;
}

mote_status mote_beam_result(const mote_beam_run* run, mote_beam* beams, mote_error* error) {
  if (run == nullptr || beams == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (!run->done) return fail(error, MOTE_WRONG_STATE, "the beam search is not done");
  for (uint32_t i = 0; i < run->options.beams; ++i)
    beams[i] = {run->hypotheses[i].ids, run->hypotheses[i].count, run->hypotheses[i].score};
  return MOTE_OK;
}

mote_status mote_beam_search(mote_session* session, const mote_beam_options* options, void* memory,
                             size_t memory_bytes, mote_beam* beams, mote_error* error) {
  if (beams == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  mote_beam_run* run = nullptr;
  int done = 0;
  mote_status status = mote_beam_begin(session, options, memory, memory_bytes, &run, error);
  if (status == MOTE_OK) status = mote_beam_step(run, 0, &done, error);
  return status != MOTE_OK ? status : mote_beam_result(run, beams, error);
}

}  // extern "C"
