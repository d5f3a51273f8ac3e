// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mote::host {

/// A word, with the space before it where there is one.
struct SaidWord {
  std::string text;
  double begin, end;   // seconds
  double probability;  // the mean of its tokens'
};

/// The words of a stretch of sound.
struct Passage {
  std::string text;
  double begin, end;  // seconds
  // Whisper's numbers of the passage:
  std::vector<int32_t> ids = {};
  double temperature = 0, average_logprob = 0, compression = 0, no_speech = 0;
  std::vector<SaidWord> words = {};  // where they are asked for
};

/// Is called with each passage as it is known.
using OnPassage = std::function<void(const Passage&)>;

}  // namespace mote::host
