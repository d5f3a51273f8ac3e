// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_rules.h"

#include <algorithm>
#include <cmath>

namespace mote::host {
namespace {

constexpr float kNegligible = -40.0f;  // beside the largest logit

void forbid(std::span<float> logits, int64_t first, int64_t end) {
  const auto size = static_cast<int64_t>(logits.size());
  for (int64_t i = std::clamp<int64_t>(first, 0, size); i < std::min(end, size); ++i)
    logits[static_cast<size_t>(i)] = -INFINITY;
}

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  if (largest == -INFINITY) return -INFINITY;
  double sum = 0;
  for (const float logit : logits)
    if (logit - largest > kNegligible) sum += static_cast<double>(std::exp(logit - largest));
  return static_cast<double>(largest) + std::log(sum);
}

WhisperRules::WhisperRules(const WhisperTokens& tokens, const std::optional<std::vector<int32_t>>& suppressed,
                           bool timestamps)
    : tokens_(tokens), timestamps_(timestamps) {
  const std::span<const int32_t> of_file(tokens.speech.suppressed, tokens.speech.suppressed_count);
  const bool all = !suppressed || std::find(suppressed->begin(), suppressed->end(), -1) != suppressed->end();
  if (suppressed && suppressed->empty()) return;
  // Any list leaves out the marks of tasks, too, whose ids are behind the token that ends a text.
  for (const int32_t id : of_file)
    if (all || id >= tokens.stop) suppressed_.push_back(id);
  if (!suppressed) return;
  for (const int32_t id : *suppressed)
    if (id >= 0) suppressed_.push_back(id);
}

void WhisperRules::suppress(size_t said, std::span<float> logits) const {
  const mote_speech_info& speech = tokens_.speech;
  for (const int32_t id : suppressed_) logits[static_cast<size_t>(id)] = -INFINITY;
  for (uint32_t i = 0; said == 0 && i < speech.suppressed_first_count; ++i)
    logits[static_cast<size_t>(speech.suppressed_first[i])] = -INFINITY;
}

void WhisperRules::pair_timestamps(std::span<const int32_t> said, std::span<float> logits) const {
  const int64_t first = tokens_.speech.first_timestamp, all = static_cast<int64_t>(logits.size());
  const size_t count = said.size();
  if (count == 0) {
    forbid(logits, 0, first);
    return forbid(logits, first + tokens_.speech.latest_first + 1, all);
  }
  const bool last = tokens_.is_timestamp(said[count - 1]);
  const bool before = count < 2 || tokens_.is_timestamp(said[count - 2]);
  if (last) {
    if (before) {
      forbid(logits, first, all);
    } else {
      forbid(logits, 0, tokens_.stop);
    }
  }
  int64_t latest = -1;
  for (const int32_t id : said)
    if (tokens_.is_timestamp(id)) latest = id;
  if (latest >= 0) forbid(logits, first, last && !before ? latest : latest + 1);
}

void WhisperRules::prefer_timestamps(std::span<float> logits) const {
  const auto first = static_cast<size_t>(tokens_.speech.first_timestamp);
  const float text = *std::max_element(logits.begin(), logits.begin() + static_cast<ptrdiff_t>(first));
  if (log_sum_exp(logits.subspan(first)) > static_cast<double>(text))
    forbid(logits, 0, static_cast<int64_t>(first));
}

void WhisperRules::apply(std::span<const int32_t> said, std::span<float> logits) const {
  suppress(said.size(), logits);
  if (!timestamps_ || tokens_.speech.first_timestamp < 0) return;
  if (tokens_.speech.no_timestamps >= 0)
    logits[static_cast<size_t>(tokens_.speech.no_timestamps)] = -INFINITY;
  pair_timestamps(said, logits);
  prefer_timestamps(logits);
}

}  // namespace mote::host
