// SPDX-License-Identifier: Apache-2.0
//
// Generation as a sequence of bounded steps. A generation is always in one of these states:
//   computing   a run is active: some operations of the program are still to do
//   prompt      no run, prompt tokens left: the next step starts a chunk of them
//   sampling    no run, logits ready: the next step picks and reports a token
//   pending     no run, a token reported but not computed: the next step starts its run, or finds that the
//               last run has guessed and computed the token, and samples the row behind it
#include "mote/grammar.h"
#include "mote/speculate.h"
#include "runtime/error.h"
#include "runtime/exec/compute.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/guesses.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/token_rules.h"
#include "runtime/grammar/matcher.h"

namespace mote {
namespace {

bool contains(const int32_t* ids, uint32_t count, int32_t id) {
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] == id) return true;
  }
  return false;
}

bool stops(const mote_session* session, int32_t id) {
  const mote_generation& options = session->generation.options;
  if (contains(options.stop_ids, options.stop_count, id)) return true;
  const auto* ids = session->model->root->stop_ids();
  return options.ignore_model_stops == 0 && contains(data_of(ids), size_of(ids), id);
}

/// The rules of the generation with what they are about.
RuledTokens ruled_tokens(const mote_session* session) {
  const mote_generation& options = session->generation.options;
  const auto* ids = options.ignore_model_stops == 0 ? session->model->root->stop_ids() : nullptr;
  return {options.rules, history_of(*session, 0), session->lengths[0], session->generation.produced,
          data_of(ids),  options.stop_ids,        size_of(ids),        options.stop_count};
}

mote_speculation* guesses_of(const mote_session& session) {
  return kHasSpeculation ? session.generation.options.guesses : nullptr;
}

/// Returns the logits of the last token. Those of guesses are no logits that a caller can read.
const float* logits_to_pick(const mote_session& session) {
  const uint32_t row = session.generation.row;
  if (!kHasSpeculation || row == 0) return mote_session_logits(&session, 0);
  return current(session).outputs[static_cast<size_t>(session.logit_index[row])];
}

/// Starts the run of the token that was picked, and of guesses of those that follow.
void begin_pending(mote_session* session) {
  GenerationState& generation = session->generation;
  generation.row = generation.guesses = 0;
  if (guesses_of(*session) == nullptr) {
    begin_chunk(session, 0, &generation.pending_id, 1, MOTE_LOGITS_LAST);
    return;
  }
  const uint32_t left = generation.options.max_tokens - generation.produced - 1;  // one is picked anyway
  begin_guessed(session, guesses_of(*session), generation.pending_id, left);
}

/// Returns how many tokens the generation may still have, `prompt` of them before it.
uint32_t tokens_left(const mote_session* session, const mote_generation& options, uint32_t prompt,
                     uint32_t produced) {
  const uint32_t most = options.max_tokens == 0 ? UINT32_MAX : options.max_tokens - produced;
  if (options.constraint->slides != 0) return most;
  // The last token need not be computed.
  const uint64_t held = uint64_t{session->lengths[0]} + prompt;
  const uint64_t room = held > session->options.context ? 0 : session->options.context - held + 1;
  return static_cast<uint32_t>(most < room ? most : room);
}

/// Checks that the shortest answer has room behind a prompt of n tokens.
mote_status check_constraint(const mote_session* session, const mote_generation& options, uint32_t n,
                             mote_error* error) {
  const mote_constraint* const constraint = options.constraint;
  if (constraint->matcher == nullptr || constraint->mask == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "a constraint: null pointer");
  uint32_t need = 0;
  const mote_status status =
      mote_matcher_need(constraint->matcher, constraint->scratch, constraint->scratch_bytes, &need, error);
  const uint32_t left = tokens_left(session, options, n, 0);
  if (status != MOTE_OK || need <= left) return status;
  // An ending of more bytes may take fewer tokens.
  if (left != 0 && mote_matcher_allow(constraint->matcher, left, constraint->mask, constraint->scratch,
                                      constraint->scratch_bytes, nullptr) == MOTE_OK)
    return MOTE_OK;
  if (need == UINT32_MAX)
    return fail(error, MOTE_INVALID_ARGUMENT, "the model's tokens cannot write what the grammar asks for");
  return fail(error, MOTE_TOO_SMALL, "the shortest answer of the grammar takes ", need, " tokens, there are ",
              left);
}

/// Writes which ids the grammar allows next.
mote_status allow_next(mote_session* session, mote_error* error) {
  const mote_generation& options = session->generation.options;
  const mote_constraint& constraint = *options.constraint;
  if (constraint.free_tokens != 0 && mote_matcher_free_tokens(constraint.matcher) >= constraint.free_tokens)
    mote_matcher_force_trigger(constraint.matcher);
  return mote_matcher_allow(constraint.matcher,
                            tokens_left(session, options, 0, session->generation.produced), constraint.mask,
                            constraint.scratch, constraint.scratch_bytes, error);
}

/// Returns the id of the largest logit.
uint32_t likeliest(const mote_session& session) {
  const float* const logits = logits_to_pick(session);
  uint32_t best = 0;
  for (uint32_t id = 1; id < session.sampler.vocab; ++id) best = logits[id] > logits[best] ? id : best;
  return best;
}

mote_status pick(mote_session* session, mote_event* event, mote_error* error) {
  GenerationState& generation = session->generation;
  const mote_constraint* const constraint = kHasGrammar ? generation.options.constraint : nullptr;
  if (constraint != nullptr) {
    const mote_status status = allow_next(session, error);
    if (status != MOTE_OK) return status;
    if (mote_matcher_is_free(constraint->matcher) != 0)
      lead_to_trigger(*constraint->matcher, likeliest(*session), constraint->mask);
  }
  event->has_token = 1;
  const RuledTokens ruled = ruled_tokens(session);
  event->id = sampler_pick(&session->sampler, logits_to_pick(*session),
                           !kHasGeneration || ruled.rules == nullptr ? nullptr : &ruled,
                           constraint == nullptr ? nullptr : constraint->mask);
  bool whole = false;
  if (constraint != nullptr) {
    const mote_status status = mote_matcher_accept(constraint->matcher, event->id, error);
    if (status != MOTE_OK) return status;
    whole = mote_matcher_finished(constraint->matcher) == 2;
  }
  sampler_see(&session->sampler, event->id);
  if (guesses_of(*session) != nullptr) compare_guess(*session, guesses_of(*session), event->id);
  session->logit_count = 0;  // the token that they were for is reported: nobody is to sample it again
  ++generation.produced;
  if (whole || stops(session, event->id)) {
    event->finish = MOTE_FINISH_STOP;
  } else if (generation.produced == generation.options.max_tokens) {
    event->finish = MOTE_FINISH_LENGTH;
  } else if (check_room(session, 0, 1, nullptr) != MOTE_OK) {
    event->finish = MOTE_FINISH_CONTEXT;
  }
  generation.pending_id = event->id;
  generation.has_pending = true;
  generation.active = event->finish == MOTE_FINISH_NONE;
  return MOTE_OK;
}

/// Starts the run that the generation needs next; false if its logits are ready to be sampled.
bool begin_next(mote_session* session) {
  GenerationState& generation = session->generation;
  if (generation.prefilled < generation.prompt_tokens) {
    generation.prefilled += begin_chunk(session, 0, generation.prompt + generation.prefilled,
                                        generation.prompt_tokens - generation.prefilled, MOTE_LOGITS_LAST);
    return true;
  }
  if (!generation.has_pending) return false;
  generation.has_pending = false;
  if (kHasSpeculation && take_guess(session, generation.pending_id)) return false;
  begin_pending(session);
  return true;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

mote_sampling mote_model_sampling(const mote_model* model) {
  return mote::sampling_of(model->root->generation());
}

mote_token_rules mote_model_token_rules(const mote_model* model) {
  return mote::rules_of(model->root->generation());
}

mote_generation mote_generation_default(void) {
  mote_generation generation{};
  generation.sampling = mote_sampling_default();
  return generation;
}

mote_status mote_generation_begin(mote_session* session, const int32_t* ids, uint32_t n,
                                  const mote_generation* generation, mote_error* error) {
  if (generation == nullptr || (ids == nullptr && n != 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (generation->stop_ids == nullptr && generation->stop_count != 0) {
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  }
  if (!mote::kHasGeneration && generation->rules != nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "the build, for a model without rules, takes none");
  const char* problem = mote::sampling_problem(generation->sampling);
  if (problem == nullptr && generation->rules != nullptr) problem = mote::rules_problem(*generation->rules);
  if (problem != nullptr) return fail(error, MOTE_INVALID_ARGUMENT, problem);
  mote_status status = mote::check_ids_alone(session, error);
  if (status == MOTE_OK) status = mote::check_ids(session, ids, n, error);
  if (status == MOTE_OK) status = mote::check_room(session, 0, n, error);
  if (status != MOTE_OK) return status;
  if (!mote::kHasGrammar && generation->constraint != nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "the build, for a model without a grammar, takes none");
  if (mote::kHasGrammar && generation->constraint != nullptr) {
    status = mote::check_constraint(session, *generation, n, error);
    if (status != MOTE_OK) return status;
  }
  if (n == 0 && (session->run.active || mote_session_logits(session, 0) == nullptr)) {
    return fail(error, MOTE_WRONG_STATE, "a generation without prompt needs the logits of an earlier call");
  }
  if (n != 0) mote::end_run(session);
  session->generation = {};
  session->generation.options = *generation;
  session->generation.prompt = ids;
  session->generation.prompt_tokens = n;
  session->generation.active = true;
  mote::sampler_start(&session->sampler, generation->sampling);
  mote::see_history(session, 0);
  const uint32_t recent = n < MOTE_REPETITION_WINDOW ? n : MOTE_REPETITION_WINDOW;
  for (uint32_t i = n - recent; i < n; ++i) mote::sampler_see(&session->sampler, ids[i]);
  return MOTE_OK;
}

mote_status mote_session_step(mote_session* session, uint32_t max_ops, mote_event* event, mote_error* error) {
  if (event == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  *event = {};
  if (!session->generation.active) return fail(error, MOTE_WRONG_STATE, "no generation is in progress");
  do {
    if (!session->run.active && !mote::begin_next(session)) {
      const mote_status status = mote::pick(session, event, error);
      if (status == MOTE_OK) continue;
      *event = {};
      session->generation.active = false;
      return status;
    } else {
      mote::continue_run(session, max_ops);
    }
  } while (max_ops == 0 && event->has_token == 0);
  return MOTE_OK;
}

mote_status mote_generate(mote_session* session, const int32_t* ids, uint32_t n,
                          const mote_generation* generation, mote_on_token on_token, void* user,
                          mote_finish* finish, mote_error* error) {
  mote_status status = mote_generation_begin(session, ids, n, generation, error);
  if (status != MOTE_OK) return status;
  mote_event event{};
  while (event.finish == MOTE_FINISH_NONE) {
    status = mote_session_step(session, 0, &event, error);
    if (status != MOTE_OK) return status;
    if (on_token != nullptr && on_token(user, event.id) != 0 && event.finish == MOTE_FINISH_NONE) {
      event.finish = MOTE_FINISH_CANCELLED;
      session->generation.active = false;
    }
  }
  if (finish != nullptr) *finish = event.finish;
  return MOTE_OK;
}

}  // extern "C"
