// SPDX-License-Identifier: Apache-2.0
//
// Kaldi's filter banks as Hugging Face's feature extractors of AST and Speech2Text compute them: of 16 kHz,
// frames of 25 ms, 10 ms apart.
#pragma once

#include "converter/architectures/shared/architecture.h"
#include "converter/graph.h"

namespace mote::convert {

/// Refuses the setting where it is not `wanted`.
void expect_size(Config& settings, const char* key, uint32_t wanted, uint32_t fallback);

/// Reads the settings that the extractors have in common. Refuses another rate or number of bins than `sound`
/// has; gives it the sizes of frames.
void read_filter_bank(Config& settings, uint32_t usual_bins, SoundSpec& sound);

}  // namespace mote::convert
