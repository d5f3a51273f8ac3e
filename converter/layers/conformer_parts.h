// SPDX-License-Identifier: Apache-2.0
//
// The parts that blocks of Conformers (Gulati et al. 2020) are put together from.
#pragma once

#include <string>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// The names of a block's weights start with its prefix, in the source with layer.names.q.
class ConformerParts {
 protected:
  ConformerParts(TransformerBuilder& builder, const LayerSpec& layer)
      : builder_(builder),
        layer_(layer),
        prefix_(prefix_of(layer)),
        source_(of_layer(layer.names.q, layer)) {}

  /// The norm of x.
  View norm(const std::string& name);
  void linear(const std::string& name, View in, View out, Activation activation, bool bias);
  /// x += linear(in).
  void add(const std::string& name, View in, bool bias);
  /// x += half of down(activation(up(norm(x)))).
  void add_half_ffn(const std::string& norm_name, const std::string& up, const std::string& down, bool bias);
  /// x = norm(x).
  void norm_x(const std::string& label, const std::string& name);

  TransformerBuilder& builder_;
  const LayerSpec& layer_;
  std::string prefix_, source_;
};

}  // namespace mote::convert
