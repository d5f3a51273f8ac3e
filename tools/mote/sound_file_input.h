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

namespace mote::cli {

/// A file's samples at a model's rate. The file is opened when it is first read, so that what is wrong with
/// the model is said first; then failures are statuses.
class SoundFileInput : public host::SoundInput {
 public:
  /// "-": standard input.
  SoundFileInput(std::string path, uint32_t rate) : path_(std::move(path)), rate_(rate) {}

  host::Result<size_t> read(std::span<float> samples) override;
  host::Status rewind() override;
  /// Returns what is wrong with the sound that was read to its end, in a sentence; "": nothing is known.
  std::string damage() const { return source_ == nullptr ? "" : source_->damage(); }

 private:
  std::string path_;
  uint32_t rate_;
  std::unique_ptr<SoundSource> source_;
  std::optional<Resampler> resampler_;
};

}  // namespace mote::cli
