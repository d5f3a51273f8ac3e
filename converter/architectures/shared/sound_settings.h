// SPDX-License-Identifier: Apache-2.0
//
// Reads what the settings of a model's feature extractor say of sound that becomes its rows.
#pragma once

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// Wav2Vec2FeatureExtractor's: sets whether samples get mean 0 and variance 1. Throws Error for another rate.
void read_waveform_settings(const Source& source, SoundSpec& sound);

/// Those of an extractor whose computation the kind of model fixes: throws Error for a setting that `sound`
/// does not have. Whisper's and NeMo's.
void check_whisper_settings(const Source& source, const SoundSpec& sound);
void check_parakeet_settings(const Source& source, const SoundSpec& sound);

}  // namespace mote::convert
