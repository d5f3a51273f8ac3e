// SPDX-License-Identifier: Apache-2.0
//
// The options of a transcription by Whisper.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/mote/arguments.h"

namespace mote::cli {

struct WhisperFlags {
  std::string language, prompt, hotwords;
  std::optional<std::string> temperatures, suppressed, logprob, compression, no_speech;
  bool translate = false, carries_prompt = false, no_condition = false, no_timestamps = false;
  uint32_t beams = 1, best_of = 1;
  std::optional<uint32_t> batch;
};

void add_whisper_flags(Command& command, WhisperFlags& flags);

/// Returns the options of mote_host_transcribe. Throws UsageError for a value that is none.
nlohmann::ordered_json whisper_options(const WhisperFlags& flags);

}  // namespace mote::cli
