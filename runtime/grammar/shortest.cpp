// SPDX-License-Identifier: Apache-2.0
//
// The shortest ending of an answer: each state says how its own begins, so the text is walked out of the
// tables, and the fewest tokens that write it are found from its end to its begin.
#include "runtime/grammar/matcher.h"

namespace mote {
namespace {

/// Walks a shortest ending byte by byte, with frames of its own above the reading's.
class Ending {
 public:
  Ending(const Grammar& grammar, const Readings& readings, Reading reading)
      : grammar_(grammar), readings_(readings), at_(reading) {}

  /// False at the end, and where tables of no compiler's lead nowhere.
  bool next(uint8_t* byte) {
    for (uint32_t turns = 0; turns <= 2 * kMaxGrammarDepth; ++turns) {
      const GrammarState& state = grammar_.states[at_.state];
      if (readings_.accepts(at_)) {
        if (depth_ == 0 && at_.frame == kNoFrame) return false;
        leave();
        continue;
      }
      if ((state.flags & kStateCalls) != 0) {
        if (!enter(grammar_.calls[state.calls + state.step])) return broken();
        continue;
      }
      *byte = static_cast<uint8_t>(state.step);
      const uint16_t target = readings_.target_of(state, *byte);
      if (target == 0) return broken();
      at_ = readings_.entered(target, at_.frame, at_.count);
      return true;
    }
    return broken();
  }
  bool is_broken() const { return broken_; }

 private:
  struct Call {
    uint16_t back;
    uint32_t count;
  };

  bool broken() {
    broken_ = true;
    return false;
  }
  bool enter(const GrammarCall& call) {
    if (call.back != 0) {
      if (depth_ == kMaxGrammarDepth) return false;
      calls_[depth_++] = {call.back, at_.count};
    }
    at_ = {grammar_.rules[call.rule].entry, at_.frame, 0};
    return true;
  }
  void leave() {
    if (depth_ == 0) {
      at_ = readings_.returned(at_);
      return;
    }
    const Call& call = calls_[--depth_];
    at_ = readings_.entered(call.back, at_.frame, call.count);
  }

  const Grammar& grammar_;
  const Readings& readings_;
  Reading at_;
  Call calls_[kMaxGrammarDepth];
  uint32_t depth_ = 0;
  bool broken_ = false;
};

/// Counts the fewest tokens of a text from its end to its begin. What it ends with as the text before did is
/// known.
uint32_t fewest_tokens(const Vocabulary& vocabulary, uint32_t length, const MatcherScratch& scratch) {
  constexpr uint16_t kNone = UINT16_MAX;
  const uint8_t* const text = scratch.text;
  uint8_t* const ending_end = scratch.ending + kShortestBytes;
  uint16_t* const tokens = scratch.tokens;  // by bytes up to the end
  uint32_t known = 0;
  const uint32_t most = length < *scratch.ending_bytes ? length : *scratch.ending_bytes;
  while (known < most && text[length - 1 - known] == *(ending_end - 1 - known)) ++known;
  tokens[0] = 0;
  for (uint32_t bytes = known + 1; bytes <= length; ++bytes) {
    uint16_t best = kNone;
    const uint8_t* const begin = text + (length - bytes);
    uint32_t at = vocabulary.roots[begin[0]],
             end = vocabulary.header->steps;  // the steps below the bytes so far
    for (uint32_t i = 0; i < bytes; ++i) {
      while (at < end && vocabulary.steps[at].byte < begin[i]) at += vocabulary.steps[at].size;
      if (at >= end || vocabulary.steps[at].byte != begin[i]) break;
      const TrieStep& step = vocabulary.steps[at];
      const uint16_t rest = tokens[bytes - 1 - i];
      if (step.value != kNoTrieValue && rest != kNone && rest + 1 < best)
        best = static_cast<uint16_t>(rest + 1);
      end = at + step.size;
      ++at;
    }
    tokens[bytes] = best;
    *(ending_end - bytes) = begin[0];
  }
  *scratch.ending_bytes = length;
  return tokens[length] == kNone ? kMaxNeed : tokens[length];
}

}  // namespace

uint32_t exact_need(const Grammar& grammar, const Vocabulary& vocabulary, const Readings& readings,
                    Reading reading, const MatcherScratch& scratch) {
  Ending ending(grammar, readings, reading);
  uint32_t length = 0;
  uint8_t byte = 0;
  while (ending.next(&byte)) {
    if (length == kShortestBytes) return readings.need(reading);
    scratch.text[length++] = byte;
  }
  if (ending.is_broken()) return kMaxNeed;
  return fewest_tokens(vocabulary, length, scratch);
}

}  // namespace mote
