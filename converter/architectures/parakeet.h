// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// Parakeet's encoder by the config's encoder_config, without a head.
TransformerSpec read_parakeet_encoder(const Source& source, Config& config, uint32_t vocab);

}  // namespace mote::convert
