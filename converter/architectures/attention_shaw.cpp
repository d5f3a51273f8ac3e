// SPDX-License-Identifier: Apache-2.0
//
// An encoder with relative positions in keys and values (Shaw et al. 2018), with logits for each token.
#include <fmt/format.h>

#include "converter/architectures/shared/classic_stack.h"

namespace mote::convert {

TransformerSpec read_attention_shaw(const Source&, Config& config) {
  TransformerSpec spec = read_pre_norm_stack(config);
  if (config.flag("causal", false)) config.refuse("causal is true; relative positions are of whole texts");
  const uint32_t reach = config.size("max_relative_position", 0, kMaxSize / 4);
  set_token_logits(spec, false);
  set_attention(spec, [reach](TransformerBuilder& builder, const LayerSpec& layer, BlockInput& in) {
    const auto table = [&](const char* what) {
      return builder.tensors().table(fmt::format("layers.{}.attention.{}_positions", layer.weights, what),
                                     2 * reach + 1, layer.attention.head_dim);
    };
    return attend_by_distance(builder, layer, {reach, true, table("key"), table("value")}, in);
  });
  return spec;
}

}  // namespace mote::convert
