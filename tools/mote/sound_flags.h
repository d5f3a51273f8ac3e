// SPDX-License-Identifier: Apache-2.0
//
// The options that say which part of a sound is heard.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tools/mote/arguments.h"

namespace mote::cli {

struct SoundFlags {
  std::optional<std::string> offset, duration;
  std::string channel;
  bool vad = false;
};

void add_sound_flags(Command& command, SoundFlags& flags);

/// Adds them to the options of mote_host_transcribe. Throws UsageError for a time that is none.
void add_sound_options(const SoundFlags& flags, nlohmann::ordered_json& options);

}  // namespace mote::cli
