// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/sampler.h"

#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/splitmix.h"

namespace mote {

void sampler_start(Sampler* sampler, const mote_sampling& sampling) {
  sampler->sampling = sampling;
  sampler->random_state = sampling.seed;
  sampler->recent_count = 0;
}

void sampler_see(Sampler* sampler, int32_t id) {
  sampler->recent[sampler->recent_count % MOTE_REPETITION_WINDOW] = id;
  ++sampler->recent_count;
}

int32_t sampler_pick(Sampler* sampler, const float* logits, const RuledTokens* ruled,
                     const uint32_t* mask) {
  const bool greedy = sampler->sampling.temperature == 0;
  const RecentTokens recent{sampler->recent, sampler->recent_count, MOTE_REPETITION_WINDOW};
  const uint64_t random = greedy ? 0 : splitmix_next(&sampler->random_state);
  ChoiceExtras extras{};
  extras.mask = mask;
  return choose({&sampler->sampling, recent, ruled, random, sampler->vocab, sampler->candidates}, logits,
                mask == nullptr ? nullptr : &extras);
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_sampling mote_sampling_default(void) {
  mote_sampling sampling{};
  sampling.top_p = 1;
  sampling.repetition_penalty = 1;
  sampling.repetition_window = 64;
  return sampling;
}

mote_status mote_sample_begin(mote_session* session, const mote_sampling* sampling, mote_error* error) {
  if (session == nullptr || sampling == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_sample_begin: null pointer");
  const char* problem = mote::sampling_problem(*sampling);
  if (problem != nullptr) return fail(error, MOTE_INVALID_ARGUMENT, problem);
  mote::sampler_start(&session->sampler, *sampling);
  return MOTE_OK;
}

mote_status mote_sample(mote_session* session, uint32_t row, int32_t* id, mote_error* error) {
  if (session == nullptr || id == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_sample: null pointer");
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  const float* logits = mote_session_logits(session, row);
  if (logits == nullptr)
    return fail(error, MOTE_WRONG_STATE, "there is no row ", row, " of logits to sample from");
  *id = mote::sampler_pick(&session->sampler, logits);
  mote::sampler_see(&session->sampler, *id);
  return MOTE_OK;
}

}  // extern "C"
