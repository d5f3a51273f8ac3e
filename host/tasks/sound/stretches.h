// SPDX-License-Identifier: Apache-2.0
//
// A sound of any length in stretches that end where it is quiet.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "host/tasks/hooks.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

/// Calls take(samples, number of the first) for stretches of at most `seconds`, until one fails. A stretch
/// that is not the last ends where it is quietest in its last 8 seconds, or its second half if that is
/// shorter.
Status read_stretches(SoundInput& sound, uint32_t rate, double seconds, const Hooks& hooks,
                      const std::function<Status(std::span<const float> samples, uint64_t first)>& take);

/// Returns the middle of the quietest tenth of a second in the last 8 seconds, or the second half if that is
/// shorter; the end, if so much is not searched.
size_t quietest_end(std::span<const float> samples, uint32_t rate);

/// Gives the samples mean 0 and variance 1, as the original's feature extractor does.
void normalize_samples(std::span<float> samples);

}  // namespace mote::host
