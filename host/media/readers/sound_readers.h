// SPDX-License-Identifier: Apache-2.0
//
// Readers of one format of sound each, for builds without libsndfile. A file's name is for messages. All
// throw convert::Error for bytes that are no such sound.
#pragma once

#include <memory>
#include <string>

#include "host/media/readers/sound_bytes.h"
#include "host/media/sound_file.h"

namespace mote::cli {

constexpr uint32_t kSlowestSound = 1000, kFastestSound = 768000;  // samples a second
constexpr uint32_t kMostSoundChannels = 64;

/// RIFF: integers of 8, 16, 24 and 32 bits, floats of 32 and 64.
std::unique_ptr<SoundSource> open_wav(std::shared_ptr<SoundBytes> bytes, std::string name);
/// FLAC, as a file or in Ogg, by libFLAC.
std::unique_ptr<SoundSource> open_flac(std::unique_ptr<SoundBytes> bytes, std::string name, bool in_ogg);
/// Vorbis in Ogg, by libvorbisfile.
std::unique_ptr<SoundSource> open_vorbis(std::unique_ptr<SoundBytes> bytes, std::string name);
/// Opus in Ogg, by libopusfile; always 48,000 samples a second.
std::unique_ptr<SoundSource> open_opus(std::unique_ptr<SoundBytes> bytes, std::string name);

/// Throws convert::Error for channels and rates beyond what is read.
void check_sound_format(const std::string& name, uint32_t channels, uint32_t rate);

}  // namespace mote::cli
