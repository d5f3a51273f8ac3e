// SPDX-License-Identifier: Apache-2.0
//
// CLAP's features of sound: decibels of Slaney's mel filters, resized to the picture that the model sees.
#pragma once

#include "converter/model_specs.h"
#include "converter/source.h"

namespace mote::convert {

inline constexpr uint32_t kClapRate = 48000;

/// Takes what ClapFeatureExtractor's settings say, where the source has them. Refuses by name what is not
/// that extractor's way for models without fusion, and sounds that `sound` has too few frames for.
void read_clap_features(const Source& source, SoundSpec& sound);

}  // namespace mote::convert
