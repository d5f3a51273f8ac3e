// SPDX-License-Identifier: Apache-2.0
//
// The parts that wav2vec 2.0 (Baevski et al. 2020) and the models built on it share.
#pragma once

#include <string>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// Keys of training, of heads that are not wanted and of dropouts, which leave the results alone.
void read_unused_wav2vec2_keys(Config& config);

/// The key's list of sizes, or, where it is absent, `fallback`.
std::vector<uint32_t> read_conv_sizes(Config& config, const std::string& key,
                                      const std::vector<uint32_t>& fallback);

/// Returns the start of the names of the model where the source has it below a head, else nothing.
std::string wav2vec2_base(const Source& source);

/// Refuses adapters of languages.
void require_no_language_adapters(Config& config);

/// Sizes, the stem of convolutions, the positional convolution unless `positions` is false, and the head.
TransformerSpec read_wav2vec2_like(const Source& source, Config& config, bool positions);

/// The head of models that label whole sounds.
void read_sound_labels(const Source& source, Config& config, TransformerSpec& spec);

/// Makes the head of such a model read the weighted sum of all layers, where the config says so. The layers
/// of `spec` are complete.
void sum_layers(Config& config, TransformerSpec& spec);

}  // namespace mote::convert
