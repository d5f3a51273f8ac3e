// SPDX-License-Identifier: Apache-2.0
//
// Rules for the tokens that Whisper's decoder may say next (Radford et al. 2022, section 4.5).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mote/sound.h"

namespace mote::host {

struct WhisperTokens {
  mote_speech_info speech{};
  int32_t start = -1, stop = -1;

  bool is_timestamp(int32_t id) const { return speech.first_timestamp >= 0 && id >= speech.first_timestamp; }
};

/// Timestamps of a text so far stand in pairs, a segment's end and the next one's begin, and never fall.
class WhisperRules {
 public:
  /// `suppressed` are the ids that the caller forbids in place of the file's (WhisperOptions). Without
  /// `timestamps` times have no rules.
  explicit WhisperRules(const WhisperTokens& tokens,
                        const std::optional<std::vector<int32_t>>& suppressed = std::nullopt,
                        bool timestamps = true);

  /// Makes the logits of what may not follow the text's tokens `said` minus infinity.
  void apply(std::span<const int32_t> said, std::span<float> logits) const;

 private:
  void suppress(size_t said, std::span<float> logits) const;
  void pair_timestamps(std::span<const int32_t> said, std::span<float> logits) const;
  void prefer_timestamps(std::span<float> logits) const;

  WhisperTokens tokens_;
  std::vector<int32_t> suppressed_;
  bool timestamps_;
};

/// Returns the logarithm of the sum of the numbers' exponentials.
double log_sum_exp(std::span<const float> logits);

}  // namespace mote::host
