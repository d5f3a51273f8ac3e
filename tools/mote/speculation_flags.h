// SPDX-License-Identifier: Apache-2.0
//
// The options of guessing tokens.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/mote/arguments.h"

namespace mote::cli {

struct SpeculationFlags {
  static constexpr uint32_t kMost = 8, kMatch = 2;

  std::optional<std::string> how;
  std::string draft;
  uint32_t most = kMost, match = kMatch;

  /// Says that the user wants to know what became of the guesses.
  bool given() const { return how.has_value() || !draft.empty(); }
  /// Says that guesses are to be others than by default.
  bool changed() const { return given() || most != kMost || match != kMatch; }
};

/// --speculate, --speculate-max, --speculate-match, and --draft where the task takes a second model.
void add_speculation_flags(Command command, SpeculationFlags& flags, bool drafts = true);

/// Adds the flags to options of mote/host.h.
void add_speculation_options(const SpeculationFlags& flags, nlohmann::ordered_json& options);

/// Adds the model of --draft to the options that a model is opened with. Throws UsageError where --speculate
/// asks for one and there is none.
void add_draft(const SpeculationFlags& flags, nlohmann::json& opening);

/// Notes why no token was guessed, where the user asked for guesses and there were none; `result` is a call's.
void tell_no_guesses(const SpeculationFlags& flags, const nlohmann::json& result);

}  // namespace mote::cli
