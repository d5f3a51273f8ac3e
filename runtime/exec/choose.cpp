// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/choose.h"

#include <math.h>

#include "runtime/exec/token_rules.h"

namespace mote {
namespace {

/// The likelier first; of equals the lower id.
bool before(const Candidate& a, const Candidate& b) {
  return a.score > b.score || (a.score == b.score && a.id < b.id);
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
/// Ids of candidates that were changed are marked by their complement.
void penalize(const Choice& choice) {
  const float penalty = choice.sampling->repetition_penalty;
  const RecentTokens& recent = choice.recent;
  const uint32_t kept = recent.count < recent.size ? recent.count : recent.size;
  uint32_t seen = 0;
  for (uint32_t back = 0; back < kept && seen < choice.sampling->repetition_window; ++back) {
    const int32_t id = recent.ids[(recent.count - 1 - back) % recent.size];
    if (id < 0) continue;
    ++seen;
    if (static_cast<uint32_t>(id) >= choice.vocab) continue;
    Candidate& candidate = choice.candidates[id];
    if (candidate.id < 0) continue;
    candidate.id = ~candidate.id;
    candidate.score = candidate.score > 0 ? candidate.score / penalty : candidate.score * penalty;
  }
}

void add_biases(const Choice& choice, const ChoiceExtras& extras) {
  for (uint32_t i = 0; i < extras.bias_count; ++i) {
    const int32_t id = extras.biases[i].id;
    if (id >= 0 && static_cast<uint32_t>(id) < choice.vocab)
      choice.candidates[id].score += extras.biases[i].bias;
  }
}

/// Takes off what generated tokens cost. Ids are their own complements from the first time on.
void charge_generated(const Choice& choice, const ChoiceExtras& extras) {
  if (extras.frequency_penalty == 0 && extras.presence_penalty == 0) return;
  for (uint32_t id = 0; id < choice.vocab; ++id) choice.candidates[id].id = static_cast<int32_t>(id);
  for (uint32_t i = 0; i < extras.generated_count; ++i) {
    const int32_t id = extras.generated[i];
    if (id < 0 || static_cast<uint32_t>(id) >= choice.vocab) continue;
    Candidate& candidate = choice.candidates[id];
    candidate.score -= extras.frequency_penalty;
    if (candidate.id < 0) continue;
    candidate.score -= extras.presence_penalty;
    candidate.id = ~candidate.id;
  }
}

/// Makes a candidate of each id, whose logits are changed.
void change_logits(const Choice& choice, const float* logits, const ChoiceExtras* extras) {
  for (uint32_t id = 0; id < choice.vocab; ++id)
    choice.candidates[id] = {logits[id], static_cast<int32_t>(id)};
  if (choice.ruled != nullptr) apply_rules(*choice.ruled, choice.vocab, logits, choice.candidates);
  if (extras != nullptr) add_biases(choice, *extras);
  if (choice.sampling->repetition_penalty != 1.0f) penalize(choice);
  if (extras != nullptr) charge_generated(choice, *extras);
}

bool allows(const ChoiceExtras* extras, uint32_t id) {
  return extras == nullptr || extras->mask == nullptr || (extras->mask[id / 32] >> id % 32 & 1) != 0;
}

/// Moves the candidates that can be chosen to the front; returns how many there are.
uint32_t gather(const Choice& choice, const float* logits, const ChoiceExtras* extras) {
  const bool changes =
      choice.ruled != nullptr || extras != nullptr || choice.sampling->repetition_penalty != 1.0f;
  if (changes) change_logits(choice, logits, extras);
  uint32_t count = 0;
  for (uint32_t id = 0; id < choice.vocab; ++id) {
    const float logit = changes ? choice.candidates[id].score : logits[id];
    choice.candidates[count] = {logit, static_cast<int32_t>(id)};
    count += !isnan(logit) && allows(extras, id);
  }
  return count;
}

/// Returns the first id that is allowed, -1 if none is.
int32_t first_allowed(const Choice& choice, const ChoiceExtras* extras) {
  for (uint32_t id = 0; id < choice.vocab; ++id) {
    if (allows(extras, id)) return static_cast<int32_t>(id);
  }
  return -1;
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

/// Finds the largest of logits that nothing changes, without a copy: the first block with it, then the first
/// id in the block.
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

/// Returns a number in [0, 1), uniform.
double fraction_of(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

/// Relative to that of the largest logit. Equal infinities have no difference.
float weight_of(float logit, float largest, float temperature) {
  return logit == largest ? 1.0f : expf((logit - largest) / temperature);
}

/// Where only min-p cuts, nothing has to be sorted.
int32_t pick_of_all(const Choice& choice, uint32_t count) {
  Candidate* const candidates = choice.candidates;
  float largest = candidates[0].score;
  for (uint32_t i = 1; i < count; ++i)
    largest = candidates[i].score > largest ? candidates[i].score : largest;
  double total = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const float weight = weight_of(candidates[i].score, largest, choice.sampling->temperature);
    candidates[i].score = weight < choice.sampling->min_p ? 0.0f : weight;
    total += static_cast<double>(candidates[i].score);
  }
  double left = fraction_of(choice.random) * total;
  int32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (candidates[i].score == 0.0f) continue;
    last = candidates[i].id;
    left -= static_cast<double>(candidates[i].score);
    if (left < 0) break;
  }
  return last;
}

int32_t pick_random(const Choice& choice, uint32_t count) {
  Candidate* const candidates = choice.candidates;
  const mote_sampling& s = *choice.sampling;
  if ((s.top_k == 0 || s.top_k >= count) && s.top_p == 1.0f) return pick_of_all(choice, count);
  for (uint32_t i = count / 2; i-- > 0;) sift_down(candidates, count, i);
  const float largest = candidates[0].score;
  const auto weight = [&](const Candidate& c) {
    return static_cast<double>(weight_of(c.score, largest, s.temperature));
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
  double left = fraction_of(choice.random) * kept;
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

int32_t choose(const Choice& choice, const float* logits, const ChoiceExtras* extras) {
  const bool greedy = choice.sampling->temperature == 0;
  if (greedy && choice.sampling->repetition_penalty == 1.0f && choice.ruled == nullptr && extras == nullptr)
    return pick_greedy(logits, choice.vocab);
  const uint32_t count = gather(choice, logits, extras);
  if (count == 0) return first_allowed(choice, extras);
  return greedy ? pick_greedy(choice.candidates, count) : pick_random(choice, count);
}

}  // namespace mote
