// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/token_rules.h"

#include <math.h>
#include <string.h>

namespace mote {
namespace {

/// The candidates of one pick. Ids that are none are passed over.
struct Candidates {
  Candidate* list;
  uint32_t vocab;

  bool has(int32_t id) const { return id >= 0 && static_cast<uint32_t>(id) < vocab; }
  void ban(int32_t id) const {
    if (has(id)) list[id].score = -INFINITY;
  }
  void ban(const int32_t* ids, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) ban(ids[i]);
  }
};

/// Keskar et al. 2019, each id once: what has lost is no longer what it was, or loses nothing.
void penalize_all(const RuledTokens& ruled, const float* logits, const Candidates& candidates) {
  const float penalty = ruled.rules->repetition_penalty;
  if (penalty == 0 || penalty == 1.0f) return;
  for (uint32_t i = 0; i < ruled.count; ++i) {
    const int32_t id = ruled.ids[i];
    if (!candidates.has(id)) continue;
    float& logit = candidates.list[id].score;
    if (logit == logits[id]) logit = logit < 0 ? logit * penalty : logit / penalty;
  }
}

/// Says whether the last `count` tokens are these.
bool ends_with(const RuledTokens& ruled, const int32_t* ids, uint32_t count) {
  return count <= ruled.count &&
         (count == 0 || memcmp(ruled.ids + (ruled.count - count), ids, count * sizeof ids[0]) == 0);
}

/// Bans the ids that followed the last n - 1 tokens wherever these tokens stood before.
void ban_ngrams(const RuledTokens& ruled, const Candidates& candidates) {
  const uint32_t n = ruled.rules->no_repeat_ngram;
  if (n == 0 || ruled.count < n) return;
  for (uint32_t i = 0; i + n <= ruled.count; ++i) {
    if (ends_with(ruled, ruled.ids + i, n - 1)) candidates.ban(ruled.ids[i + n - 1]);
  }
}

/// The last token of each forbidden sequence whose others are the last tokens.
void ban_forbidden(const RuledTokens& ruled, const Candidates& candidates) {
  const mote_token_rules& rules = *ruled.rules;
  for (uint32_t at = 0; at < rules.forbidden_count;) {
    const auto length = static_cast<uint32_t>(rules.forbidden[at]);
    const int32_t* const ids = rules.forbidden + at + 1;
    if (ends_with(ruled, ids, length - 1)) candidates.ban(ids[length - 1]);
    at += 1 + length;
  }
}

}  // namespace

mote_sampling sampling_of(const file::Generation* own) {
  mote_sampling sampling = mote_sampling_default();
  if (!kHasGeneration || own == nullptr || !own->samples()) return sampling;
  sampling.temperature = own->temperature();
  sampling.top_k = own->top_k();
  sampling.top_p = own->top_p();
  sampling.min_p = own->min_p();
  return sampling;
}

mote_token_rules rules_of(const file::Generation* own) {
  mote_token_rules rules{};
  if (!kHasGeneration || own == nullptr) return rules;
  rules.repetition_penalty = own->repetition_penalty();
  rules.no_repeat_ngram = own->no_repeat_ngram();
  rules.forbidden = data_of(own->forbidden());
  rules.forbidden_count = size_of(own->forbidden());
  rules.shortest = own->shortest();
  rules.min_tokens = own->min_tokens();
  rules.suppressed_ids = data_of(own->suppressed_ids());
  rules.suppressed_count = size_of(own->suppressed_ids());
  rules.first_suppressed_ids = data_of(own->first_suppressed_ids());
  rules.first_suppressed_count = size_of(own->first_suppressed_ids());
  return rules;
}

const char* generation_problem(const file::Generation* own) {
  if (!kHasGeneration || own == nullptr) return nullptr;
  const char* problem = sampling_problem(sampling_of(own));
  return problem != nullptr ? problem : rules_problem(rules_of(own));
}

const char* rules_problem(const mote_token_rules& rules) {
  if (!(rules.repetition_penalty >= 0) || isinf(rules.repetition_penalty))
    return "the rules' repetition_penalty must be above 0, or 0 for none";
  if ((rules.suppressed_ids == nullptr && rules.suppressed_count != 0) ||
      (rules.first_suppressed_ids == nullptr && rules.first_suppressed_count != 0) ||
      (rules.forbidden == nullptr && rules.forbidden_count != 0))
    return "the rules have a null pointer";
  for (uint32_t at = 0; at < rules.forbidden_count;) {
    const int32_t length = rules.forbidden[at];
    if (length < 1 || static_cast<uint32_t>(length) >= rules.forbidden_count - at)
      return "the rules' forbidden sequences are longer than their list, or empty";
    at += 1 + static_cast<uint32_t>(length);
  }
  return nullptr;
}

void apply_rules(const RuledTokens& ruled, uint32_t vocab, const float* logits, Candidate* list) {
  const mote_token_rules& rules = *ruled.rules;
  const Candidates candidates{list, vocab};
  penalize_all(ruled, logits, candidates);
  ban_ngrams(ruled, candidates);
  ban_forbidden(ruled, candidates);
  if (ruled.count < rules.shortest || ruled.produced < rules.min_tokens) {
    candidates.ban(ruled.stop_ids, ruled.stop_count);
    candidates.ban(ruled.more_stop_ids, ruled.more_stop_count);
  }
  candidates.ban(rules.suppressed_ids, rules.suppressed_count);
  if (ruled.produced == 0) candidates.ban(rules.first_suppressed_ids, rules.first_suppressed_count);
}

}  // namespace mote
