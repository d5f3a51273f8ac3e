// SPDX-License-Identifier: Apache-2.0
//
// A file of sound for the library's tasks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/media/sound_file.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::cli {

/// A file's samples at a model's rate, whose failures are statuses.
class SoundFileInput : public host::SoundInput {
 public:
  /// "-": standard input. Throws convert::Error for a file that is no sound.
  SoundFileInput(const std::string& path, uint32_t rate) : source_(open_sound(path)), rate_(rate) {}

  host::Result<size_t> read(std::span<float> samples) override;
  host::Status rewind() override;
  /// Returns what is wrong with the sound that was read to its end, in a sentence; "": nothing is known.
  std::string damage() const { return source_->damage(); }

 private:
  std::unique_ptr<SoundSource> source_;
  uint32_t rate_;
  std::optional<Resampler> resampler_;
};

}  // namespace mote::cli
