// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/run_guesses.h"

#include <algorithm>
#include <utility>

#include "host/tasks/session.h"

namespace mote::host {

Result<RunGuesses> RunGuesses::begin(const SpeculationOptions& options, std::optional<Draft> draft) {
  MOTE_TAKE(Speculation speculation, Speculation::begin(options));
  return RunGuesses(std::move(speculation), std::move(draft));
}

void RunGuesses::forget() {
  mote_speculation_precede(speculation_.get(), nullptr, 0);
  ids_.clear();
  computed_ = 0;
  at_ = 0;
}

Result<std::span<const int32_t>> RunGuesses::behind(const Session& session, int32_t last, uint32_t most,
                                                    const Hooks& hooks, const DraftPick& pick) {
  ids_.clear();
  at_ = 0;
  source_ = GuessSource::looked_up;
  most = std::min(most, speculation_.options().most);
  if (draft_) {
    const uint32_t wanted = std::min(most, speculation_.drafts_wanted(session, last, draft_->guess_ms()));
    MOTE_TAKE(const std::span<const int32_t> drafted, draft_->next(session, last, wanted, hooks, pick));
    ids_.assign(drafted.begin(), drafted.end());
    if (!ids_.empty()) source_ = GuessSource::drafted;
  }
  if (ids_.empty() && speculation_.options().mode != Speculate::draft)
    ids_ = speculation_.look_up(session, last);
  computed_ = static_cast<uint32_t>(std::min<size_t>(most, ids_.size()));
  if (source_ == GuessSource::looked_up) computed_ = std::min(computed_, speculation_.most_looked_up());
  ++counts_.runs;
  counts_.guessed += computed_;
  counts_.rows += 1 + computed_;
  return std::span<const int32_t>(ids_).first(computed_);
}

bool RunGuesses::stands(int32_t id) {
  if (at_ == ids_.size()) return false;
  const bool right = ids_[at_] == id, computed = at_ < computed_;
  speculation_.compared(right, source_);
  ++(right ? counts_.right : counts_.wrong);
  // A guess behind one that has no row was made without knowing the token between.
  at_ = right && computed ? at_ + 1 : ids_.size();
  counts_.stood += right && computed;
  return right && computed;
}

}  // namespace mote::host
