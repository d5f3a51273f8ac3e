// SPDX-License-Identifier: Apache-2.0
//
// Guesses of tokens for tasks that compute rows and pick tokens themselves: what followed the last tokens
// before, or a second model's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/tasks/draft.h"
#include "host/tasks/hooks.h"
#include "host/tasks/speculation.h"
#include "host/tasks/status.h"

namespace mote::host {

class RunGuesses {
 public:
  /// `options` want guesses; `draft` is the second model's session, if there is one.
  static Result<RunGuesses> begin(const SpeculationOptions& options, std::optional<Draft> draft);

  Draft* draft() { return draft_ ? &*draft_ : nullptr; }
  /// Forgets what was looked up in: another text follows.
  void forget();
  /// Returns the guesses, at most `most`, that the next run is to compute behind the token `last`, which
  /// comes behind those of sequence 0. They are valid until the next call.
  Result<std::span<const int32_t>> behind(const Session& session, int32_t last, uint32_t most,
                                          const Hooks& hooks, const DraftPick& pick);
  /// Takes up the time of the run that computed them.
  void ran(double ms) { speculation_.ran(1 + computed_, ms); }
  /// Compares a token that was picked with the guess in its place. Returns whether a row has been computed of
  /// it.
  bool stands(int32_t id);
  /// Returns the counts of all runs.
  const mote_speculation_counts& counts() const { return counts_; }

 private:
  RunGuesses(Speculation speculation, std::optional<Draft> draft)
      : speculation_(std::move(speculation)), draft_(std::move(draft)) {}

  Speculation speculation_;
  std::optional<Draft> draft_;
  std::vector<int32_t> ids_;  // behind the last run's token
  uint32_t computed_ = 0;     // of them
  size_t at_ = 0;             // which is compared next
  GuessSource source_ = GuessSource::looked_up;
  mote_speculation_counts counts_ = {};
};

}  // namespace mote::host
