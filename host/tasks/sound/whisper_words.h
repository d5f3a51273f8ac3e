// SPDX-License-Identifier: Apache-2.0
//
// Times of words that Whisper said in a window, by cross attention and dynamic time warping, as the original
// finds and corrects them (openai/whisper, timing.py).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/token_words.h"
#include "host/tasks/sound/whisper.h"

namespace mote::host {

class WhisperWords {
 public:
  /// The decoder must outlive it. `language` is a code; words of some are single characters.
  WhisperWords(WhisperDecoder& decoder, const std::string& language);

  /// Adds the words of the passages of a window, which the decoder has heard, and moves the passages' times
  /// to them. Windows come in the order of the sound.
  Status add(std::vector<Passage>& passages, const WhisperWindow& window, const Hooks& hooks);

 private:
  struct Word {
    std::string text;
    uint32_t tokens;
    double begin, end;  // seconds of the window
    double probability;
  };

  Result<std::vector<Word>> align(const std::vector<int32_t>& ids, const WhisperWindow& window,
                                  const Hooks& hooks) const;
  void take(Passage& passage, std::vector<SaidWord> words, double median);

  WhisperDecoder* decoder_;
  WordsAt at_;
  double last_said_ = 0;  // seconds, of the last word of earlier windows
};

/// Returns when the last word of the passages ends, or else the last of them.
double end_of_words(const std::vector<Passage>& passages);

}  // namespace mote::host
