// SPDX-License-Identifier: Apache-2.0
//
// Blocks of layers that several architectures have beside the common ones, for LayerSpec::build.
#pragma once

#include <string>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// Which half of a fused matrix's rows the activation is of.
enum class FusedHalf : uint8_t { first, second };

/// The branch of a gated feed-forward whose gate and up are one matrix, `source`, with a bias if `bias` says
/// so. The norms and `down` are the layer's; "{}" in a name stands for the layer's weights.
void add_fused_ffn(TransformerBuilder& builder, const LayerSpec& layer, const std::string& source,
                   FusedHalf activated, bool bias = false);

}  // namespace mote::convert
