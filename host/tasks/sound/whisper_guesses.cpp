// SPDX-License-Identifier: Apache-2.0
//
// Guesses of a text's next tokens: what followed the last ones before, or what a smaller Whisper hears.
#include <algorithm>
#include <cmath>
#include <utility>

#include "host/base/timer.h"
#include "host/tasks/bounded_steps.h"
#include "host/tasks/sound/whisper.h"

namespace mote::host {

/// Begins guesses of a window's only text, as far as they are wanted.
Status WhisperDecoder::begin_guesses(const SessionChoices& choices, const GuessedBy& guesses) {
  if (guesses.draft != nullptr) MOTE_TRY(require_draft(*model_, *guesses.draft));
  const char* hindrance = mote_speculation_hindrance(session_.get());
  if (windows_ > 1) hindrance = "windows are decoded side by side";
  if (options_->beams > 1) hindrance = "the search has several beams";
  if (guesses.options.mode == Speculate::off) hindrance = "switched off";
  if (hindrance != nullptr) {
    no_guesses_ = hindrance;
    return {};
  }
  std::optional<Draft> draft;
  if (guesses.draft != nullptr && drafts(guesses.options.mode)) {
    MOTE_TAKE(draft, Draft::begin(*model_, *guesses.draft, choices, context_));
  }
  MOTE_TAKE(guesses_, RunGuesses::begin(guesses.options, std::move(draft)));
  return {};
}

GuessReport WhisperDecoder::guesses() const {
  return {guesses_ ? guesses_->counts() : mote_speculation_counts{}, no_guesses_};
}

/// Takes tokens of the first text back that are but guesses: those behind `length`.
Status WhisperDecoder::drop_guesses(size_t length) {
  if (mote_session_length(session_.get(), 0) <= length) return {};
  mote_error error = {};
  return from_core(mote_session_truncate(session_.get(), 0, static_cast<uint32_t>(length), &error), error,
                   model_->name());
}

/// Picks a guess of a second model, by the rules of what it follows.
int32_t WhisperDecoder::draft_pick(std::span<const int32_t> said, std::span<const float> logits,
                                   std::span<const int32_t> found) {
  std::vector<int32_t> all(said.begin(), said.end());
  all.insert(all.end(), found.begin(), found.end());
  allowed_.assign(logits.begin(), logits.end());
  allowed_.resize(vocab_, -INFINITY);
  rules_.apply(all, allowed_);
  return static_cast<int32_t>(std::max_element(allowed_.begin(), allowed_.end()) - allowed_.begin());
}

/// Computes the last token of the only text, which comes behind `before` tokens, with guesses of those that
/// follow it, unless a guess has computed it. Returns whether it was so.
Result<bool> WhisperDecoder::go_on_guessing(std::span<const int32_t> said, size_t before,
                                            const Hooks& hooks) {
  const int32_t last = said.back();
  if (guesses_->stands(last)) return true;
  MOTE_TRY(drop_guesses(before));
  const auto room = static_cast<uint32_t>(context_ - before - 1);
  MOTE_TAKE(const std::span<const int32_t> ids,
            guesses_->behind(session_, last, room, hooks,
                             [&](std::span<const float> logits, std::span<const int32_t> found) {
                               return draft_pick(said, logits, found);
                             }));
  std::vector<mote_row> rows = {{0, last, 0, 1}};
  for (const int32_t id : ids) rows.push_back({0, id, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  const Timer timer;
  MOTE_TRY(compute(session_, call, hooks, model_->name()));
  guesses_->ran(timer.ms());
  return false;
}

}  // namespace mote::host
