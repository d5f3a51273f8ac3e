// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/sampler.h"

#include <math.h>

#include "runtime/error.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/splitmix.h"
#include "runtime/exec/token_rules.h"

namespace mote {
namespace {

/// The likelier first; of equals the lower id.
bool before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

void sift_down(Candidate* heap, uint32_t count, uint32_t at) {
  const Candidate moving = heap[at];
  for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && before(heap[child + 1], heap[child])) ++child;
    if (!before(heap[child], moving)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moving;
}

/// Moves the likeliest of the first `left` candidates, a heap, behind the others.
const Candidate& pop(Candidate* heap, uint32_t left) {
  const Candidate top = heap[0];
  heap[0] = heap[left - 1];
  heap[left - 1] = top;
  sift_down(heap, left - 1, 0);
  return heap[left - 1];
}

/// Keskar et al. 2019: divides the positive and multiplies the negative logits of recent tokens, each once.
void penalize(const Sampler& sampler, Candidate* candidates, uint32_t count) {
  const float penalty = sampler.sampling.repetition_penalty;
  const uint32_t window = sampler.sampling.repetition_window;
  const uint32_t seen = sampler.recent_count < window ? sampler.recent_count : window;
  for (uint32_t i = 0; i < seen; ++i) {
    const auto recent = [&](uint32_t back) {
      return sampler.recent[(sampler.recent_count - 1 - back) % MOTE_REPETITION_WINDOW];
    };
    const int32_t id = recent(i);
    bool repeated = false;
    for (uint32_t j = 0; j < i && !repeated; ++j) repeated = recent(j) == id;
    if (repeated) continue;
    // NaN logits were left out, so a candidate lies at its id or before it.
    for (uint32_t at = static_cast<uint32_t>(id) < count ? static_cast<uint32_t>(id) + 1 : count; at-- > 0;) {
      if (candidates[at].id > id) continue;
      if (candidates[at].id == id) {
        float& logit = candidates[at].logit;
        logit = logit > 0 ? logit / penalty : logit * penalty;
      }
      break;
    }
  }
}

uint32_t gather(const Sampler& sampler, const float* logits, const RuledTokens* ruled) {
  uint32_t count = 0;
  if (ruled != nullptr) {
    for (uint32_t id = 0; id < sampler.vocab; ++id)
      sampler.candidates[id] = {logits[id], static_cast<int32_t>(id)};
    apply_rules(*ruled, sampler.vocab, logits, sampler.candidates);
  }
  for (uint32_t id = 0; id < sampler.vocab; ++id) {
    const float logit = ruled != nullptr ? sampler.candidates[id].logit : logits[id];
    sampler.candidates[count] = {logit, static_cast<int32_t>(id)};
    count += !isnan(logit);
  }
  if (sampler.sampling.repetition_penalty != 1.0f) penalize(sampler, sampler.candidates, count);
  return count;
}

int32_t pick_greedy(const Candidate* candidates, uint32_t count) {
  Candidate best = candidates[0];
  for (uint32_t i = 1; i < count; ++i) {
    if (before(candidates[i], best)) best = candidates[i];
  }
  return best.id;
}

/// The largest of `count` logits, or -infinity.
float largest_of(const float* logits, uint32_t count) {
  constexpr uint32_t kLanes = 16;  // maxima side by side, for compilers to make vectors of
  float most[kLanes];
  for (float& lane : most) lane = -INFINITY;
  uint32_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      most[lane] = logits[i + lane] > most[lane] ? logits[i + lane] : most[lane];
    }
  }
  for (; i < count; ++i) most[0] = logits[i] > most[0] ? logits[i] : most[0];
  for (const float lane : most) most[0] = lane > most[0] ? lane : most[0];
  return most[0];
}

/// The same of logits without a penalty, where nothing has to be copied: the first block with the largest,
/// then the first in it.
int32_t pick_greedy(const float* logits, uint32_t vocab) {
  constexpr uint32_t kBlock = 512;
  float largest = -INFINITY;
  uint32_t id = 0;
  for (uint32_t begin = 0; begin < vocab; begin += kBlock) {
    const float of_block = largest_of(logits + begin, vocab - begin < kBlock ? vocab - begin : kBlock);
    if (!(of_block > largest)) continue;
    largest = of_block;
    id = begin;
  }
  for (; id < vocab; ++id) {
    if (logits[id] == largest) return static_cast<int32_t>(id);
  }
  return 0;
}

/// Uniform in [0, 1).
double draw(Sampler* sampler) {
  return static_cast<double>(splitmix_next(&sampler->random_state) >> 11) * 0x1p-53;
}

/// Relative to that of the largest logit. Equal infinities have no difference.
float weight_of(float logit, float largest, float temperature) {
  return logit == largest ? 1.0f : expf((logit - largest) / temperature);
}

/// Where only min-p cuts, nothing has to be sorted.
int32_t pick_of_all(Sampler* sampler, Candidate* candidates, uint32_t count) {
  float largest = candidates[0].logit;
  for (uint32_t i = 1; i < count; ++i)
    largest = candidates[i].logit > largest ? candidates[i].logit : largest;
  double total = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const float weight = weight_of(candidates[i].logit, largest, sampler->sampling.temperature);
    candidates[i].logit = weight < sampler->sampling.min_p ? 0.0f : weight;
    total += static_cast<double>(candidates[i].logit);
  }
  double left = draw(sampler) * total;
  int32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (candidates[i].logit == 0.0f) continue;
    last = candidates[i].id;
    left -= static_cast<double>(candidates[i].logit);
    if (left < 0) break;
  }
  return last;
}

int32_t pick_random(Sampler* sampler, Candidate* candidates, uint32_t count) {
  const mote_sampling& s = sampler->sampling;
  if ((s.top_k == 0 || s.top_k >= count) && s.top_p == 1.0f) return pick_of_all(sampler, candidates, count);
  for (uint32_t i = count / 2; i-- > 0;) sift_down(candidates, count, i);
  const float largest = candidates[0].logit;
  const auto weight = [&](const Candidate& c) {
    return static_cast<double>(weight_of(c.logit, largest, s.temperature));
  };

  const uint32_t most = s.top_k != 0 && s.top_k < count ? s.top_k : count;
  double total = 0;  // of the top k
  uint32_t sorted = 0;
  if (most < count) {
    for (; sorted < most; ++sorted) total += weight(pop(candidates, count - sorted));
  } else {
    for (uint32_t i = 0; i < count; ++i) total += weight(candidates[i]);
  }
  // Candidate of rank r is at count - 1 - r once sorted that far.
  double kept = 0;
  uint32_t keep = 0;
  while (keep < most) {
    if (keep == sorted) {
      pop(candidates, count - sorted);
      ++sorted;
    }
    const double w = weight(candidates[count - 1 - keep]);
    if (keep > 0 && (w == 0 || w < s.min_p || kept >= s.top_p * total)) break;
    kept += w;
    ++keep;
  }
  double left = draw(sampler) * kept;
  for (uint32_t rank = 0; rank + 1 < keep; ++rank) {
    left -= weight(candidates[count - 1 - rank]);
    if (left < 0) return candidates[count - 1 - rank].id;
  }
  return candidates[count - keep].id;
}

}  // namespace

const char* sampling_problem(const mote_sampling& sampling) {
  if (!(sampling.temperature >= 0) || isinf(sampling.temperature)) return "temperature must be 0 or more";
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) return "top_p must be above 0 and at most 1";
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) return "min_p must be 0 to 1";
  if (!(sampling.repetition_penalty > 0) || isinf(sampling.repetition_penalty)) {
    return "repetition_penalty must be above 0";
  }
  if (sampling.repetition_window > MOTE_REPETITION_WINDOW) return "repetition_window must be 0 to 256";
  return nullptr;
}

void sampler_start(Sampler* sampler, const mote_sampling& sampling) {
  sampler->sampling = sampling;
  sampler->random_state = sampling.seed;
  sampler->recent_count = 0;
}

void sampler_see(Sampler* sampler, int32_t id) {
  sampler->recent[sampler->recent_count % MOTE_REPETITION_WINDOW] = id;
  ++sampler->recent_count;
}

int32_t sampler_pick(Sampler* sampler, const float* logits, const RuledTokens* ruled) {
  const bool greedy = sampler->sampling.temperature == 0;
  if (greedy && sampler->sampling.repetition_penalty == 1.0f && ruled == nullptr)
    return pick_greedy(logits, sampler->vocab);
  const uint32_t count = gather(*sampler, logits, ruled);
  if (count == 0) return 0;
  if (greedy) return pick_greedy(sampler->candidates, count);
  return pick_random(sampler, sampler->candidates, count);
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

mote_status mote_sampler_init(mote_session* session, const mote_sampling* sampling, mote_error* error) {
  if (session == nullptr || sampling == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_sampler_init: null pointer");
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
