// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/forced_guesses.h"

#include <algorithm>

#include "host/tasks/text.h"
#include "mote/speculate.h"

namespace mote::host {
namespace {

constexpr size_t kMostForced = 256;  // bytes: more than guesses of a run hold
constexpr size_t kMostBefore = 32;   // bytes of the answer that say how what follows is split

}  // namespace

void ForcedGuesses::said(std::string_view text) {
  if (before_.size() + text.size() > kMostBefore) before_.clear();
  before_ += text;
}

Result<std::vector<int32_t>> ForcedGuesses::next(const Model& model, const Session& session,
                                                 const mote_matcher& matcher) const {
  char forced[kMostForced];
  const size_t bytes = mote_matcher_forced(&matcher, forced, sizeof forced);
  if (bytes == 0) return std::vector<int32_t>();
  const std::string_view text(forced, bytes);
  MOTE_TAKE(const std::vector<int32_t> known, tokenize(model, session, before_, 0));
  MOTE_TAKE(std::vector<int32_t> all, tokenize(model, session, before_ + std::string(text), 0));
  // The text that follows is split alone if the text so far would be split otherwise together with it.
  if (known.size() <= all.size() && std::equal(known.begin(), known.end(), all.begin())) {
    all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(known.size()));
  } else {
    MOTE_TAKE(all, tokenize(model, session, text, 0));
  }
  if (bytes == sizeof forced && !all.empty()) all.pop_back();  // it may be cut
  if (all.size() > MOTE_MOST_GUESSES) all.resize(MOTE_MOST_GUESSES);
  return all;
}

}  // namespace mote::host
