// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::cli {

/// What is said in a stretch of sound.
struct Passage {
  std::string text;
  double begin, end;  // seconds
  // Of Whisper:
  std::vector<int32_t> ids = {};
  double temperature = 0, average_logprob = 0, compression = 0, no_speech = 0;
};

}  // namespace mote::cli
