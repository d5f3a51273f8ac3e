// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/encoder_decoder.h"

#include <memory>
#include <utility>

namespace mote::convert {

void set_cross(LayerSpec cross, LayerSpec& layer) {
  cross.attention.window = 0;
  cross.attention.rope = cross.attention.bias = kNone;
  cross.names.label = "layer.{}.cross.";
  layer.cross = std::make_shared<const LayerSpec>(std::move(cross));
}

void set_encoder(Config& config, TransformerSpec encoder, TransformerSpec& decoder, int32_t start_id) {
  require_flag(config, "is_encoder_decoder", true);
  for (const char* of_training : {"dropout_rate", "classifier_dropout_rate", "initializer_factor"})
    config.value(of_training);
  encoder.head.kind = OutputKind::hidden;
  const bool known = config.has("decoder_start_token_id") || start_id >= static_cast<int64_t>(decoder.vocab);
  decoder.bos_id = known ? config.token_id("decoder_start_token_id", decoder.vocab) : start_id;
  decoder.source = std::make_shared<const TransformerSpec>(std::move(encoder));
}

std::string first_tensor(const Source& source, std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (source.tensors.count(name + ".weight") != 0) return name;
  }
  return *names.begin();
}

}  // namespace mote::convert
