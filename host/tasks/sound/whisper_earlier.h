// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "host/tasks/sound/whisper.h"

namespace mote::host {

/// The ids that stand in front of a window's text: hotwords, the caller's prompt, and text of earlier
/// windows.
class EarlierText {
 public:
  /// The options must outlive it.
  static Result<EarlierText> make(const WhisperDecoder& decoder, const WhisperOptions& options,
                                  const Hooks& hooks);

  /// Returns them, at most as many as the decoder takes.
  std::vector<int32_t> ids() const;
  /// Adds a window's passages, which were said at a temperature. Behind a high one nothing of it or of what
  /// was before stands in front of later windows.
  void add(const std::vector<Passage>& passages, double temperature);

 private:
  explicit EarlierText(const WhisperOptions& options) : options_(&options) {}

  const WhisperOptions* options_;
  size_t room_ = 0;
  std::vector<int32_t> hotwords_, prompt_, said_;  // a prompt that is not carried is the beginning of `said_`
};

}  // namespace mote::host
