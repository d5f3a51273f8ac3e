// SPDX-License-Identifier: Apache-2.0
//
// The parts that architectures of an encoder and a decoder share.
#pragma once

#include <initializer_list>
#include <string>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

/// `cross`, a layer whose attention and names are those of the attention to the source, becomes layer.cross.
void set_cross(LayerSpec cross, LayerSpec& layer);

/// `encoder` becomes the decoder's source, which starts at decoder_start_token_id. Throws Error where the
/// config says that the model is none of both. `start_id`: where the key is absent.
void set_encoder(Config& config, TransformerSpec encoder, TransformerSpec& decoder, int32_t start_id = -1);

/// The first of the names whose weight the source has, else the first.
std::string first_tensor(const Source& source, std::initializer_list<std::string> names);

}  // namespace mote::convert
