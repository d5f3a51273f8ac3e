// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host/media/sound_source.h"
#include "host/tasks/sound/transcribe.h"

namespace mote::api {

struct SpeechOptions {
  host::TranscribeOptions transcribe;
  cli::Channel channel = cli::Channel::mix;
  bool live = false, partial = false;
  std::string listen;             // the device that is heard in place of the input; "": none
  bool detects_language = false;  // in place of transcribing
  bool tells_guesses = false;     // what became of them is part of the result
};

/// Reads the options of mote_host_transcribe. Throws OptionError.
SpeechOptions read_speech_options(const char* json);

}  // namespace mote::api
