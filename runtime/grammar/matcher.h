// SPDX-License-Identifier: Apache-2.0
//
// What lies in the memory of a matcher, and of its scratch.
#pragma once

#include "runtime/grammar/readings.h"

struct mote_matcher {
  const mote_grammar* grammar;
  uint32_t free_tokens;  // since free text began
  uint8_t forced;        // free text goes on to its trigger
  uint8_t ended;         // by a stop id
  uint16_t readings, frames, unused;
  mote::Reading reading[mote::kMostReadings];
  // Frame [frame_room()] follows.

  mote::Frame* frame() { return reinterpret_cast<mote::Frame*>(this + 1); }
  const mote::Frame* frame() const { return reinterpret_cast<const mote::Frame*>(this + 1); }
};

namespace mote {

/// What depends on how much stack and memory a build is for.
struct ScratchRoom {
  uint32_t step_readings;
  uint32_t shortest_bytes;  // of an ending whose tokens are counted exactly
};
inline constexpr ScratchRoom kSmallScratch = {48, 1024};
#ifdef MOTE_SMALL_STACK
inline constexpr uint32_t kStepFrames = 160;
inline constexpr ScratchRoom kScratch = kSmallScratch;
#else
inline constexpr uint32_t kStepFrames = 1024;
inline constexpr ScratchRoom kScratch = {256, 4096};
#endif
inline constexpr uint32_t kStepReadings = kScratch.step_readings, kShortestBytes = kScratch.shortest_bytes;

/// Frames that a matcher keeps between tokens.
inline uint32_t frame_room(const Grammar& grammar) { return grammar.header->depth + 16u; }

/// Appends a token's bytes to single readings without a limit on the memory of all but one byte's.
class TokenReader {
 public:
  TokenReader(const Grammar& grammar, const mote_matcher& matcher);

  /// Starts from the matcher's readings, or from one, whose frame is the matcher's.
  void start();
  void start_from(const Reading& reading);
  /// Returns false where no reading is left.
  bool read(uint8_t byte);
  /// Says whether all readings are in free text.
  bool is_free() const;
  uint32_t count() const { return count_; }
  Reading* readings() { return now_; }
  Readings& all() { return readings_; }
  const Frame* frames() const { return frames_; }
  /// Keeps the readings that a matcher has room for.
  void keep_room();

 private:
  const Grammar& grammar_;
  const mote_matcher& matcher_;
  Frame frames_[kStepFrames];
  Readings readings_;
  Reading now_[kStepReadings], next_[kStepReadings];
  uint32_t count_ = 0;
};

/// Memory of the walks over tokens.
struct MatcherScratch {
  Frame* frames;
  Reading* readings;
  uint16_t* begins;  // [longest + 2], of the readings at each depth
  uint32_t* nexts;   // [longest + 1, 8], bytes that the readings at each depth go on with
  uint16_t* tokens;  // [kShortestBytes + 1], fewest of so many last bytes of `ending`
  uint8_t* text;     // [kShortestBytes]
  uint8_t* ending;   // [kShortestBytes], the last `ending_bytes` of it: what was counted last
  uint32_t* ending_bytes;
  uint32_t frame_count, reading_count;
};

/// Says how many tokens the shortest ending of the reading takes: exactly as many as the vocabulary needs for
/// its text where that is not too long, else the sum that the tables give. kMaxNeed: the vocabulary cannot
/// write it.
uint32_t exact_need(const Grammar& grammar, const Vocabulary& vocabulary, const Readings& readings,
                    Reading reading, const MatcherScratch& scratch);

/// Lays the scratch out; returns its bytes. `memory` may be null.
size_t lay_out_scratch(const Grammar& grammar, const Vocabulary& vocabulary, void* memory,
                       MatcherScratch* scratch, const ScratchRoom& room = kScratch);

/// Looks at the token that the model finds likeliest where the answer is free. Where it ends a trigger and
/// goes on with what may not follow, the model means the trigger: the mask keeps the longest token alone that
/// the text up to the trigger's end begins with, if it is allowed.
void lead_to_trigger(const mote_matcher& matcher, uint32_t likeliest, uint32_t* mask);

/// Adds to the mask the ids that the matcher may read next and after which the shortest ending has at most
/// `left` tokens.
void allow_tokens(const mote_matcher& matcher, uint32_t left, const MatcherScratch& scratch, uint32_t* mask);

}  // namespace mote
