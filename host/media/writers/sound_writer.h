// SPDX-License-Identifier: Apache-2.0
//
// Samples as files of sound: one channel, 16 bits a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mote::cli {

enum class SoundFormat : uint8_t { wav, flac };

/// Returns the format that a file's name asks for, in any case; none for another ending, and for FLAC in a
/// build without libFLAC.
std::optional<SoundFormat> sound_format(const std::string& path);
/// Returns the endings of files that can be written, for messages.
const char* written_sounds();

/// Returns a whole file. There are at most 2^30 samples.
std::vector<std::byte> sound_bytes(SoundFormat format, std::span<const float> samples, uint32_t rate);

/// Returns a FLAC file (flac_writer.cpp).
std::vector<std::byte> flac_bytes(std::span<const float> samples, uint32_t rate);

}  // namespace mote::cli
