// SPDX-License-Identifier: Apache-2.0
//
// The choices of a transcription by Whisper. Names and defaults are those of the original (openai/whisper,
// transcribe.py); hotwords are faster-whisper's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mote::host {

/// Returns how many bytes zlib makes of these.
using Deflated = std::function<size_t(std::span<const std::byte>)>;

struct WhisperOptions {
  std::string language;  // a code or an English name, in any case; "": the file's, or else it is detected
  bool translate = false;
  std::string prompt;         // stands in front of the first window's text as if it had been said before
  bool carry_prompt = false;  // and in front of every later window's
  std::string hotwords;       // stand in front of the earlier text of every window
  uint32_t beams = 1;         // texts that a beam search keeps, at temperature 0
  uint32_t best_of = 1;       // texts that are drawn at other temperatures, of which the likeliest stands
  std::vector<double> temperatures = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};  // until a text is no failure
  bool conditions = true;  // earlier text stands in front of a window's
  /// Windows that are decoded at once. 0: one after the other, each from the end of what was said before;
  /// else windows end where it is quiet and no earlier text stands in front of them, whatever `conditions`
  /// says.
  uint32_t batch = 0;
  bool timestamps = true;
  bool words = false;  // each passage has its words
  /// Ids that are never chosen beside the marks of tasks and times; -1 stands for those of the file. None:
  /// the file's.
  std::optional<std::vector<int32_t>> suppressed;
  // A text is a failure below this mean of its tokens' log-probabilities, or where zlib makes it shorter by
  // more than this factor. A window is silent above this probability, unless its text is likely. None: the
  // rule is off.
  std::optional<double> least_logprob = -1.0, most_compression = 2.4, silence = 0.6;

  bool operator==(const WhisperOptions&) const = default;
};

}  // namespace mote::host
