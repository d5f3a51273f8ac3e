// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/beam_rules.h"

#include <string.h>

namespace mote {

bool repeats_ngram(const BeamTokens& tokens, uint32_t n, int32_t id) {
  if (n == 0 || tokens.count < n) return false;
  const uint32_t before = n - 1;
  const int32_t* const last = tokens.ids + (tokens.count - before);
  for (uint32_t i = 0; i + n <= tokens.count; ++i) {
    if (tokens.ids[i + before] == id && memcmp(tokens.ids + i, last, before * sizeof last[0]) == 0)
      return true;
  }
  return false;
}

float penalize_repetition(const BeamTokens& tokens, float penalty, int32_t id, float score) {
  for (uint32_t i = 0; i < tokens.count; ++i) {
    if (tokens.ids[i] == id) return score < 0 ? score * penalty : score / penalty;
  }
  return score;
}

}  // namespace mote
