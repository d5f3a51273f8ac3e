// SPDX-License-Identifier: Apache-2.0
//
// Linear attention (Katharopoulos et al. 2020) and Performer (Choromanski et al. 2021), pre-norm with ReLU
// feed-forwards. Causal ones keep sums of a fixed size of a text; the others are encoders with logits for
// each token.
#include <fmt/format.h>

#include <cmath>

#include "converter/architectures/shared/classic_stack.h"
#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

struct LinearAttentionSpec {
  FeatureMap map = FeatureMap::elu_plus_one;
  bool causal = true;
  uint32_t features = 0;
};

View attend_by_features(TransformerBuilder& builder, const LayerSpec& layer, const LinearAttentionSpec& spec,
                        BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t width = attention.q_width();
  const std::string prefix = prefix_of(layer);
  const View all = project_heads(builder, layer, in);
  int32_t projection = -1;
  if (spec.map == FeatureMap::exponential) {
    const std::string name = fmt::format("layers.{}.attention.features", layer.weights);
    projection = builder.add_weight({prefix + "features",
                                     DType::f32,
                                     true,
                                     spec.features,
                                     attention.head_dim,
                                     {},
                                     builder.tensors().table(name, spec.features, attention.head_dim)});
  }
  int32_t state = -1;
  if (spec.causal) {
    state = static_cast<int32_t>(
        builder.add_state(recurrent(attention.heads, spec.features, attention.head_dim + 1)));
  }
  const View out = builder.new_value(width, Unit::token);
  builder.add(LinearAttentionNode{spec.map, state, attention.heads, projection, columns(all, 0, width),
                                  columns(all, width, width), columns(all, 2 * width, width), out});
  return out;
}

}  // namespace

TransformerSpec read_linear_attention(const Source&, Config& config) {
  TransformerSpec spec = read_pre_norm_stack(config);
  LinearAttentionSpec linear;
  linear.causal = config.flag("causal", true);
  if (config.text("model_type") == "performer") {
    linear.map = FeatureMap::exponential;
    linear.features = config.size("num_features", 1, kMaxStateColumns);
  } else {
    linear.features = spec.layers[0].attention.head_dim;
  }
  if (linear.causal) spec.context = kUnlimitedContext;
  set_token_logits(spec, linear.causal);
  set_attention(spec, [linear](TransformerBuilder& builder, const LayerSpec& layer, BlockInput& in) {
    return attend_by_features(builder, layer, linear, in);
  });
  return spec;
}

}  // namespace mote::convert
