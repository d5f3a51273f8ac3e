// SPDX-License-Identifier: Apache-2.0
//
// Readings of an answer's bytes. A reading is where in the rules the answer may be: a state, its rule's
// count, and the frame of the call that it is in. Frames are never changed, so readings share them; they lie
// in an array of the caller's in the order of their making, parents before children.
#pragma once

#include "runtime/grammar/tables.h"

namespace mote {

inline constexpr uint16_t kNoFrame = UINT16_MAX;
inline constexpr uint32_t kMaxNeed = 0xFFFFFF;
inline constexpr uint32_t kMostReadings = 16;  // of one answer; the ones with the shortest endings are kept

struct Frame {
  uint16_t back;                  // the state behind the call
  uint16_t parent;                // frame, or kNoFrame
  uint32_t count;                 // of the calling rule
  uint32_t rest : 24, depth : 8;  // tokens of the shortest ending behind the call; frames up to this one
};
static_assert(sizeof(Frame) == 12);

struct Reading {
  uint16_t state;
  uint16_t frame;
  uint32_t count;
};
static_assert(sizeof(Reading) == 8);

class Readings {
 public:
  /// `frames`: [capacity], of which `count` are made.
  Readings(const Grammar& grammar, Frame* frames, uint32_t count, uint32_t capacity, bool forced)
      : grammar_(grammar), frames_(frames), count_(count), capacity_(capacity), forced_(forced) {}

  /// Appends to `out`, [capacity], the readings after another byte; returns how many there are then. Readings
  /// and frames beyond the room for them are dropped, and overflowed() says so.
  uint32_t step(Reading reading, uint8_t byte, Reading* out, uint32_t count, uint32_t capacity);

  /// Drops all but the kMostReadings readings with the shortest endings; returns how many are left.
  uint32_t keep_shortest(Reading* readings, uint32_t count) const;
  /// Tokens of the shortest ending, at most.
  uint32_t need(const Reading& reading) const;
  /// 1 where the answer is whole.
  bool is_whole(Reading reading) const;
  /// Adds the bytes that the reading goes on with to a set.
  void next_bytes(Reading reading, uint32_t* set) const;

  uint32_t frames() const { return count_; }
  void drop_frames(uint32_t count) { count_ = count; }
  bool overflowed() const { return overflowed_; }
  void clear_overflow() { overflowed_ = false; }
  const Frame& frame(uint32_t number) const { return frames_[number]; }
  uint32_t depth_of(uint16_t frame) const { return frame == kNoFrame ? 0 : frames_[frame].depth; }
  /// Keeps the frames of the readings alone, from number `from` on.
  void compact(Reading* readings, uint32_t count, uint32_t from);

  /// Says whether the rule may end here.
  bool accepts(const Reading& reading) const {
    const GrammarState& state = grammar_.states[reading.state];
    return (state.flags & kStateAccepts) != 0 && reading.count >= grammar_.rules[state.rule].least;
  }
  bool may_go_on(const Reading& reading) const {
    const GrammarState& state = grammar_.states[reading.state];
    return (state.flags & kStateHead) == 0 || reading.count < grammar_.rules[state.rule].most;
  }
  /// Returns the reading in a state that is entered, by a byte or behind a call.
  Reading entered(uint16_t target, uint16_t frame, uint32_t count) const {
    const GrammarState& state = grammar_.states[target];
    if ((state.flags & kStateHead) != 0) {
      const GrammarRule& rule = grammar_.rules[state.rule];
      if (count < (rule.most == kNoMost ? rule.least : rule.most)) ++count;
    }
    return {target, frame, count};
  }
  Reading returned(const Reading& reading) const {
    const Frame& frame = frames_[reading.frame];
    return entered(frame.back, frame.parent, frame.count);
  }
  /// Returns the need of the state and its count alone.
  uint32_t own_need(const Reading& reading) const;
  /// Makes the frame of a call; kNoFrame where it is too deep or there is no room. A call without a way back
  /// takes the frame that there is.
  bool call(const Reading& from, const GrammarCall& call, Reading* called);
  uint16_t target_of(const GrammarState& state, uint8_t byte) const;
  /// Writes the only reading behind a byte, with state 0 where there is none. False: step() has to say.
  bool step_plainly(const Reading& reading, uint8_t byte, Reading* next) const;

 private:
  bool fits(const Reading& reading) const {
    return depth_of(reading.frame) + grammar_.states[reading.state].depth <= grammar_.header->depth;
  }
  uint32_t add(Reading reading, Reading* out, uint32_t count, uint32_t capacity);

  const Grammar& grammar_;
  Frame* frames_;
  uint32_t count_, capacity_;
  bool forced_, overflowed_ = false;
};

}  // namespace mote
