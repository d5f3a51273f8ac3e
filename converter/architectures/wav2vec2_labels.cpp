// SPDX-License-Identifier: Apache-2.0
//
// Labels of a whole sound, of wav2vec 2.0, the models built on it and Whisper: a projection of each row,
// their mean, and labels of that; the rows are the last layer's or a weighted sum of all layers'.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "converter/architectures/wav2vec2.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

/// Returns the shares of the layers, of which the first is what the first layer reads.
std::vector<float> layer_shares(TensorSet& tensors, uint32_t count) {
  std::vector<float> shares = tensors.table("layer_weights", 1, count);
  const float most = *std::max_element(shares.begin(), shares.end());
  float sum = 0;
  for (float& share : shares) sum += share = std::exp(share - most);
  for (float& share : shares) share /= sum;
  return shares;
}

}  // namespace

void read_sound_labels(const Source& source, Config& config, TransformerSpec& spec) {
  read_labels_head(source, config, "classifier", spec);
  spec.head.pool = PoolKind::mean;
  spec.head.dense = {"projector", "", Activation::none,
                     config.size("classifier_proj_size", 1, kMaxSize, 256)};
  spec.head.dense_of_tokens = true;
}

void sum_layers(Config& config, TransformerSpec& spec) {
  if (spec.head.kind != OutputKind::sequence_labels || !config.flag("use_weighted_layer_sum", false)) return;
  if (!spec.names.final_norm.empty()) {
    config.refuse(
        "use_weighted_layer_sum of layers that end in a norm (do_stable_layer_norm) is not supported: "
        "versions "
        "of transformers differ in what they add of the last layer");
  }
  const auto count = static_cast<uint32_t>(spec.layers.size()) + 1;
  const auto sum = std::make_shared<View>();
  for (uint32_t i = 0; i + 1 < count; ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.build = [sum, count, i, build = std::move(layer.build)](TransformerBuilder& builder,
                                                                  const LayerSpec& own) {
      const std::vector<float> shares = layer_shares(builder.tensors(), count);
      if (i == 0) {
        *sum = builder.new_value(builder.x().width, Unit::token);
        builder.add(ScaleRowsNode{builder.x(), *sum, -1, shares[0]});
      }
      build ? build(builder, own) : builder.layer(own);
      builder.add(ScaleRowsNode{builder.x(), *sum, -1, shares[i + 1], *sum});
    };
  }
  spec.before_head = [sum](TransformerBuilder&, View) { return *sum; };
  // The last layer's rows are named behind the layer, not in the head, which reads the sum.
  spec.last_hidden_unnormed = true;
  spec.head.hidden_before_norm = false;
}

}  // namespace mote::convert
