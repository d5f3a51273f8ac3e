// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "runtime/grammar/matcher.h"

namespace mote {

TokenReader::TokenReader(const Grammar& grammar, const mote_matcher& matcher)
    : grammar_(grammar),
      matcher_(matcher),
      readings_(grammar, frames_, matcher.frames, kStepFrames, matcher.forced != 0) {
  memcpy(frames_, matcher.frame(), matcher.frames * sizeof(Frame));
}

void TokenReader::start() {
  readings_.drop_frames(matcher_.frames);
  count_ = matcher_.readings;
  memcpy(now_, matcher_.reading, count_ * sizeof(Reading));
}

void TokenReader::start_from(const Reading& reading) {
  readings_.drop_frames(matcher_.frames);
  now_[0] = reading;
  count_ = 1;
}

void TokenReader::keep_room() {
  readings_.compact(now_, count_, 0);
  while (count_ > 1 && readings_.frames() > frame_room(grammar_)) {
    uint32_t longest = 0;
    for (uint32_t i = 1; i < count_; ++i) {
      if (readings_.need(now_[i]) >= readings_.need(now_[longest])) longest = i;
    }
    --count_;
    for (uint32_t i = longest; i < count_; ++i) now_[i] = now_[i + 1];
    readings_.compact(now_, count_, 0);
  }
}

bool TokenReader::read(uint8_t byte) {
  if (readings_.frames() > kStepFrames / 2) readings_.compact(now_, count_, matcher_.frames);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count_; ++i) found = readings_.step(now_[i], byte, next_, found, kStepReadings);
  count_ = readings_.keep_shortest(next_, found);
  memcpy(now_, next_, count_ * sizeof(Reading));
  return count_ != 0;
}

bool TokenReader::is_free() const {
  for (uint32_t i = 0; i < count_; ++i) {
    if ((grammar_.states[now_[i].state].flags & kStateFree) == 0) return false;
  }
  return count_ != 0;
}

}  // namespace mote
