// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of experts (Shazeer et al. 2017) in place of a feed-forward, from the blocks of
// transformer_builder.h. All throw Error, naming the tensor.
#pragma once

#include <functional>
#include <string>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// Names of weights as in LayerNames; "{}" stands for the layer's number.
struct MixtureSpec {
  /// How the source has the experts' matrices.
  enum class Layout : uint8_t {
    each,   // a tensor for each expert: gate, up and down, "[]" in their names stands for the expert's number
    fused,  // gate [experts, 2 width, in]: gate, then up; down [experts, out, width]
    pairs,  // gate [experts, in, 2 width]: gate and up by turns; down [experts, width, out]; with biases
  };

  uint32_t experts = 0, chosen = 0;
  uint32_t width = 0;  // of an expert's feed-forward
  Layout layout = Layout::each;
  std::string gate, up, down;
  Activation activation = Activation::silu;
  bool biases = false;  // of each: behind every matrix, under its name
  float limit = 0.0f;   // where there are biases: what gates and ups are clamped to, and 1 is added to ups

  std::string router;  // without ".weight"
  bool router_bias = false;
  Scores scores = Scores::softmax;
  std::string selection_bias;  // the tensor that is added to scores where they choose; empty: none
  uint32_t groups = 1, groups_chosen = 1;
  bool normalized = false;
  float eps = 0.0f;  // added to the sum that scores are divided by
  float factor = 1.0f;

  FfnSpec shared;  // an expert for every row; of width 0: none
  std::string shared_gate, shared_up, shared_down;
  std::string shared_router;  // the sigmoid of its one output scales the shared expert; empty: none
};

/// x = sum(x + multiplier * after(mixture(before(x)))), as TransformerBuilder::ffn.
void mixture(TransformerBuilder& builder, const LayerSpec& layer, const MixtureSpec& spec);

}  // namespace mote::convert
