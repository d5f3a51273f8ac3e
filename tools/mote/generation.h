// SPDX-License-Identifier: Apache-2.0
//
// The options of generating an answer, which run and chat share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/mote/arguments.h"
#include "tools/mote/speculation_flags.h"

namespace mote::cli {

struct GenerationFlags {
  uint32_t tokens = 0;
  bool greedy = false, ignore_stop = false;
  std::vector<std::string> stop_texts;
  uint64_t seed = 0;
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint32_t> top_k;
  SpeculationFlags speculation;
};

/// Returns the flags as options of mote/host.h.
nlohmann::ordered_json options_of(const GenerationFlags& flags);

/// -n, --greedy, --temp and so on, --stop, --ignore-stop. `tokens` is the default of -n; `samples`: the
/// command samples without --temp too.
void add_generation_flags(Command command, GenerationFlags& flags, uint32_t tokens, bool samples);

/// --context-full: stop, or slide, which forgets `forgotten`. `what` holds the default.
void add_context_full_flag(Command command, std::string& what, const std::string& forgotten);

}  // namespace mote::cli
