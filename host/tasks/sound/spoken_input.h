// SPDX-License-Identifier: Apache-2.0
//
// The stretches of a sound in which somebody speaks, one behind the other.
#pragma once

#include <cstdint>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"
#include "mote/speech_activity.h"

namespace mote::host {

/// Leaves out of a sound what mote/speech_activity.h takes for no speech, a third of a second around each
/// stretch stays. Pauses of less than half a second end no stretch.
class SpokenInput : public SoundInput {
 public:
  /// The sound, of MOTE_SPEECH_RATE samples a second, must outlive it. `frames` of MOTE_SPEECH_FRAME samples
  /// are heard at once.
  explicit SpokenInput(SoundInput& sound, uint32_t frames = 16);

  Result<size_t> read(std::span<float> samples) override;
  Status rewind() override;
  /// A stretch of time, in seconds.
  struct Span {
    double begin, end;
  };
  /// Returns where a span of what was read lies in the whole sound. Recognizers put the end of what is said
  /// to the begin of what comes next: a begin behind the speech of a stretch is that of the next one, and an
  /// end that lies half a second in a later stretch than the begin at most is that of the stretch before.
  Span whole_span(double begin, double end) const;
  /// Hears the next frames; returns false once the sound has ended. It stands in for read(): what was found
  /// is taken out by take_ready().
  Result<bool> step();
  /// Returns the samples of speech that were found since the last call.
  std::vector<float> take_ready();
  /// Tells whether somebody speaks, so that more of the stretch may follow.
  bool speaks() const { return speaks_ && !ended_; }
  /// Tells whether there is any speech.
  bool any() const { return !stretches_.empty(); }

 private:
  struct Stretch {
    uint64_t whole, spoken, count;  // samples: its first one in the whole sound and among those read
    uint64_t lead, said;            // samples before the speech, and up to its end
  };

  Status hear();
  size_t stretch_at(double sample, bool end) const;
  double whole_seconds(size_t stretch, double sample) const;
  void take(float probability);
  void open(uint64_t frame);
  void deliver(uint64_t end);
  void drop(uint64_t begin);

  SoundInput* sound_;
  size_t block_;  // samples heard at once
  mote_speech_detector detector_;
  std::vector<float> held_, ready_;  // samples that wait for a decision, and those to be read
  size_t given_ = 0;                 // of `ready_`
  uint64_t first_ = 0;               // of `held_`, in the whole sound
  uint64_t frame_ = 0;               // whose probability comes next
  uint64_t loud_ = 0;                // the last frame of speech
  uint32_t begins_ = 0, quiet_ = 0;  // frames in a row
  uint64_t delivered_ = 0;           // samples that were made ready
  bool speaks_ = false, ended_ = false;
  std::vector<Stretch> stretches_;
};

/// Returns a passage at another time: whole(begin, end) is the span that its own, and those of its words,
/// are.
template <class Whole>
Passage moved_passage(const Passage& passage, const Whole& whole) {
  Passage moved = passage;
  const auto move = [&](auto& timed) {
    const SpokenInput::Span span = whole(timed.begin, timed.end);
    timed.begin = span.begin;
    timed.end = span.end;
  };
  move(moved);
  for (SaidWord& word : moved.words) move(word);
  return moved;
}

}  // namespace mote::host
