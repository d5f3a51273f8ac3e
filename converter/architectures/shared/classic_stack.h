// SPDX-License-Identifier: Apache-2.0
//
// The parts that the stacks which differ in their attention share.
#pragma once

#include <functional>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// Sizes, names and layers of a pre-norm stack with ReLU feed-forwards and equal heads with biases; without
/// positions or with sines. Its context is that of a whole text.
TransformerSpec read_pre_norm_stack(Config& config);

/// A layer's queries, keys and values, with biases where qkv_bias says so, [rows, 3 * width].
View project_heads(TransformerBuilder& builder, const LayerSpec& layer, BlockInput& in);

/// Keys and values by distance (Shaw et al. 2018), each [2 reach + 1, head_dim]. Beyond the reach the last
/// ones hold, or there are none.
struct DistanceTables {
  uint32_t reach;
  bool beyond;
  std::vector<float> keys, values;
};
/// The outputs of the layer's heads with such, before the projection o.
View attend_by_distance(TransformerBuilder& builder, const LayerSpec& layer, const DistanceTables& tables,
                        BlockInput& in);

/// The heads' outputs of an attention that the layers' data do not describe.
using Attend = std::function<View(TransformerBuilder&, const LayerSpec&, BlockInput&)>;
/// Layers have it in the place of theirs.
void set_attention(TransformerSpec& spec, const Attend& attend);

/// Logits over the vocabulary: of the next token if `causal`, else of each token of a whole text.
void set_token_logits(TransformerSpec& spec, bool causal);

/// [width / 2] frequencies of the sines of Vaswani et al. 2017.
std::vector<float> sine_frequencies(uint32_t width);

}  // namespace mote::convert
