// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "host/media/sound_source.h"

namespace mote::cli {

/// Opens a device of ALSA, "default" for the one that the system names so, and records one channel of about
/// so many samples a second; it never ends. Throws convert::Error where the device cannot be had, and in
/// builds without ALSA.
std::unique_ptr<SoundSource> open_microphone(const std::string& device, uint32_t rate);

}  // namespace mote::cli
