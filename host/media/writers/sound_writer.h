// SPDX-License-Identifier: Apache-2.0
//
// Files of sound that are written while their samples are made: one channel, 16 bits a sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace mote::cli {

enum class SoundFormat : uint8_t { wav, flac };

/// Returns the format that a file's name asks for, in any case; none for another ending, and for FLAC in a
/// build without libFLAC.
std::optional<SoundFormat> sound_format(const std::string& path);
/// Returns the endings of files that can be written, for messages.
const char* written_sounds();

/// Returns how many samples a file of the format holds.
uint64_t most_samples(SoundFormat format);

/// A file that is there once it is whole. Its memory does not grow with the sound.
class SoundWriter {
 public:
  virtual ~SoundWriter() = default;
  /// Appends samples from -1 to 1. Throws convert::Error where they cannot be written, or there are more than
  /// the format holds.
  virtual void add(std::span<const float> samples) = 0;
  /// Ends the file and gives it its name. Throws convert::Error.
  virtual void commit() = 0;
};

/// Begins a file beside the path. Throws convert::Error.
std::unique_ptr<SoundWriter> sound_writer(SoundFormat format, const std::string& path, uint32_t rate);

/// Begins a FLAC (flac_writer.cpp).
std::unique_ptr<SoundWriter> flac_writer(const std::string& path, uint32_t rate);

}  // namespace mote::cli
