// SPDX-License-Identifier: Apache-2.0
//
// A file of sound for the library's tasks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/media/sound_file.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

/// A file's samples at a model's rate, whose failures are statuses.
class SoundFileInput : public SoundInput {
 public:
  /// "-": standard input. Throws convert::Error for a file that is no sound.
  SoundFileInput(const std::string& path, uint32_t rate) : SoundFileInput(cli::open_sound(path), rate) {}
  SoundFileInput(std::unique_ptr<cli::SoundSource> source, uint32_t rate)
      : source_(std::move(source)), rate_(rate) {}

  Result<size_t> read(std::span<float> samples) override;
  Status rewind() override;
  uint64_t samples() const override {
    return static_cast<uint64_t>(static_cast<double>(source_->samples()) * rate_ / source_->rate());
  }
  /// Returns what is wrong with the sound that was read to its end, in a sentence; "": nothing is known.
  std::string damage() const { return source_->damage(); }

 private:
  std::unique_ptr<cli::SoundSource> source_;
  uint32_t rate_;
  std::optional<cli::Resampler> resampler_;
};

}  // namespace mote::host
