// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/tasks/hooks.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

/// The part of a sound that begins after some of it and has a length at most.
class CutInput : public SoundInput {
 public:
  /// The sound must outlive it. `offset`: samples that are left out at the beginning; `most`: samples that
  /// follow, UINT64_MAX for all.
  CutInput(SoundInput& sound, uint64_t offset, uint64_t most)
      : sound_(&sound), offset_(offset), most_(most) {}

  Result<size_t> read(std::span<float> samples) override;
  Status rewind() override;
  uint64_t samples() const override;
  /// Returns how many samples of the part have been read.
  uint64_t heard() const { return heard_; }

 private:
  uint64_t heard_ = 0;
  SoundInput* sound_;
  uint64_t offset_, most_;
  uint64_t skipped_ = 0, read_ = 0;
};

/// A sound that tells the stage "transcribe" what part of it was read, where its length is known.
class ToldInput : public SoundInput {
 public:
  /// Both must outlive it.
  ToldInput(SoundInput& sound, const Hooks& hooks) : sound_(&sound), hooks_(&hooks) {}

  Result<size_t> read(std::span<float> samples) override;
  Status rewind() override;
  uint64_t samples() const override { return sound_->samples(); }

 private:
  SoundInput* sound_;
  const Hooks* hooks_;
  uint64_t read_ = 0;
};

}  // namespace mote::host
