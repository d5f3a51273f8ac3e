// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/whisper_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mote::host {
namespace {

constexpr float kNegligible = -80.0f;  // beside the largest logit
constexpr size_t kSideBySide = 16;

/// Returns e^x for x from -80 to 0 with a relative error below 3e-7: 2^(whole + part), of which the second
/// factor is a polynomial of part * ln 2 (Taylor's, up to degree 6). It has no branches, so that a compiler
/// does several at once.
float exponential(float x) {
  constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f, kRounds = 12582912.0f;  // 1.5 * 2^23
  const float moved = x * kLog2E + kRounds, whole = moved - kRounds;
  const float part = (x * kLog2E - whole) * kLn2;
  float sum = (1.0f / 720 * part + 1.0f / 120) * part + 1.0f / 24;
  sum = ((sum * part + 1.0f / 6) * part + 0.5f) * part * part + part + 1.0f;
  const int32_t exponent = std::bit_cast<int32_t>(moved) - std::bit_cast<int32_t>(kRounds);
  return sum * std::bit_cast<float>((exponent + 127) << 23);
}

void forbid(std::span<float> logits, int64_t first, int64_t end) {
  const auto size = static_cast<int64_t>(logits.size());
  for (int64_t i = std::clamp<int64_t>(first, 0, size); i < std::min(end, size); ++i)
    logits[static_cast<size_t>(i)] = -INFINITY;
}

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  if (largest == -INFINITY) return -INFINITY;
  double sums[kSideBySide] = {};
  for (size_t i = 0; i < logits.size(); i += kSideBySide) {
    const size_t count = std::min(kSideBySide, logits.size() - i);
    float powers[kSideBySide];
    std::fill_n(powers, kSideBySide, kNegligible);
    for (size_t j = 0; j < count; ++j) powers[j] = std::max(kNegligible, logits[i + j] - largest);
    for (size_t j = 0; j < kSideBySide; ++j) sums[j] += static_cast<double>(exponential(powers[j]));
  }
  double sum = 0;
  for (const double part : sums) sum += part;
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
