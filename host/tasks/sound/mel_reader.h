// SPDX-License-Identifier: Apache-2.0
//
// Log-mel features of sound of any length, a stretch at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/sound/sound_input.h"
#include "mote/sound.h"

namespace mote::host {

/// The logarithms of frames one after the other. Before the first sample the sound is reflected, behind the
/// last it is silent.
class MelStream {
 public:
  /// The sound and the spec's filters must outlive the stream.
  MelStream(SoundInput& sound, const mote_log_mel& spec);

  /// Writes the next `count` frames, [count, mels].
  Status read(uint32_t count, float* logarithms);
  /// Goes on with a later frame.
  Status skip_to(uint64_t frame);
  uint64_t next() const { return next_; }
  /// Returns the number of samples, which is known once the sound has ended.
  std::optional<uint64_t> samples() const {
    return ended_ ? std::optional(first_ + held_.size()) : std::nullopt;
  }

 private:
  Status hold(int64_t end);
  float sample(int64_t at) const;

  SoundInput* sound_;
  mote_log_mel spec_;
  std::vector<double> scratch_;
  std::vector<float> held_, window_;
  uint64_t first_ = 0;  // of the samples held
  uint64_t next_ = 0;   // frame
  bool ended_ = false;
};

/// Whisper's features of a whole sound, whose largest logarithm bounds all of them from below: it is read
/// once to find that, and once more where it is longer than what is held.
class MelReader {
 public:
  /// Reads the sound once. The sound and the hooks must outlive the reader. `held`: frames, from the first
  /// on, that are kept of this reading. The hooks are told the stage "transcribe" and what part of the frames
  /// is done when read() is called.
  static Result<MelReader> read_all(SoundInput& sound, uint32_t rate, uint32_t fft, uint32_t hop,
                                    uint32_t mels, uint32_t held, const Hooks& hooks);
  static Result<MelReader> read_all(SoundInput& sound, uint32_t rate, uint32_t fft, uint32_t hop,
                                    uint32_t mels, uint32_t held, const Hooks&& hooks) = delete;

  /// Returns how many frames have sound.
  uint64_t frames() const { return frames_; }
  uint32_t mels() const { return spec_.mels; }
  /// Writes features [count, mels] from frame `first` on, which is never before that of an earlier call.
  Status read(uint64_t first, uint32_t count, float* features);

 private:
  MelReader(SoundInput& sound, uint32_t rate, uint32_t fft, uint32_t hop, uint32_t mels, const Hooks& hooks);
  Status find_largest(uint32_t held);

  SoundInput* sound_;
  const Hooks* hooks_;
  std::vector<float> filters_;
  mote_log_mel spec_{};
  uint64_t frames_ = 0;
  float largest_ = 0;
  std::optional<MelStream> stream_;
  std::vector<float> held_;  // logarithms from frame first_ on
  uint64_t first_ = 0;
};

}  // namespace mote::host
