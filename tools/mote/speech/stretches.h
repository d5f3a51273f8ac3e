// SPDX-License-Identifier: Apache-2.0
//
// A sound of any length in stretches that end where it is quiet.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "host/media/sound_file.h"

namespace mote::cli {

/// Calls take(samples, number of the first) for stretches of at most `seconds`, resampled to `rate`. A
/// stretch that is not the last ends where it is quietest in its last 8 seconds, or its second half if that
/// is shorter.
void read_stretches(SoundSource& source, uint32_t rate, double seconds,
                    const std::function<void(std::span<const float> samples, uint64_t first)>& take);

/// Samples with mean 0 and variance 1, as the original's feature extractor makes them.
void normalize_samples(std::span<float> samples);

}  // namespace mote::cli
