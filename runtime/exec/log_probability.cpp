// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "runtime/exec/choose.h"
#include "schema/little_endian.h"

namespace mote {
namespace {

/// Returns the logarithm of the sum of exponentials of the logits, without those that are NaN.
double log_sum(const float* logits, uint32_t vocab) {
  float most = -INFINITY;
  for (uint32_t id = 0; id < vocab; ++id) most = logits[id] > most ? logits[id] : most;
  if (isinf(most)) return static_cast<double>(most);
  double sum = 0;
  for (uint32_t id = 0; id < vocab; ++id) {
    if (!isnan(logits[id])) sum += static_cast<double>(expf(logits[id] - most));
  }
  return static_cast<double>(most) + log(sum);
}

/// Returns the logarithm of a logit's probability; infinite logits share all probability, and each has a
/// logarithm of 0.
float log_share(float logit, double all) {
  if (isinf(all)) return static_cast<double>(logit) == all && all > 0 ? 0.0f : -INFINITY;
  return static_cast<float>(static_cast<double>(logit) - all);
}

}  // namespace
}  // namespace mote

extern "C" {

float mote_log_probability(const float* logits, uint32_t vocab, int32_t id) {
  if (id < 0 || static_cast<uint32_t>(id) >= vocab || isnan(logits[id])) return -INFINITY;
  return mote::log_share(logits[id], mote::log_sum(logits, vocab));
}

uint32_t mote_likeliest(const float* logits, uint32_t vocab, mote_candidate* best, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t id = 0; id < vocab && n != 0; ++id) {
    const float logit = logits[id];
    if (isnan(logit) || (count == n && !(logit > best[n - 1].score))) continue;
    uint32_t at = count < n ? count++ : n - 1;
    for (; at > 0 && logit > best[at - 1].score; --at) best[at] = best[at - 1];
    best[at] = {logit, static_cast<int32_t>(id)};
  }
  const double all = mote::log_sum(logits, vocab);
  for (uint32_t i = 0; i < count; ++i) best[i].score = mote::log_share(best[i].score, all);
  return count;
}

}  // extern "C"
