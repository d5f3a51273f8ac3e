// SPDX-License-Identifier: Apache-2.0
//
// Sound of formats that no reader of mote knows, by the program ffmpeg, which is no part of mote.
#pragma once

#include <memory>
#include <string>

#include "host/media/sound_source.h"

namespace mote::cli {

/// Opens a regular file that begins as MP4 (M4A, the sound of a film), Matroska or WebM, AAC, ASF (WMA), AMR,
/// AVI or FLV: ffmpeg, found in PATH, decodes it into a pipe and opens no other file and no address that the
/// file names. Returns null for a file that begins otherwise, and for none. Throws convert::Error where
/// ffmpeg is not installed, or finds no sound.
std::unique_ptr<SoundSource> open_foreign_sound(const std::string& path);

}  // namespace mote::cli
