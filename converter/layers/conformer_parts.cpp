// SPDX-License-Identifier: Apache-2.0
#include "converter/layers/conformer_parts.h"

namespace mote::convert {

View ConformerParts::norm(const std::string& name) {
  const View out = builder_.new_value(builder_.x().width, Unit::token);
  builder_.norm(prefix_ + name, source_ + name, builder_.x(), out);
  return out;
}

void ConformerParts::linear(const std::string& name, View in, View out, Activation activation, bool bias) {
  builder_.linear(prefix_ + name, source_ + name, Role::matrix, in, out, activation, bias);
}

void ConformerParts::add(const std::string& name, View in, bool bias) {
  BlockInput input{in};
  builder_.linears(
      prefix_, input,
      {builder_.projection(name, source_ + name, builder_.x().width, in.width, Role::matrix, bias)},
      builder_.x(), Activation::none, builder_.x());
}

void ConformerParts::add_half_ffn(const std::string& norm_name, const std::string& up,
                                  const std::string& down, bool bias) {
  const View normed = norm(norm_name), inner = builder_.new_value(layer_.ffn.width, Unit::token);
  linear(up, normed, inner, layer_.ffn.activation, bias);
  const View out = builder_.new_value(builder_.x().width, Unit::token);
  linear(down, inner, out, Activation::none, bias);
  builder_.add(ScaleRowsNode{out, builder_.x(), -1, 0.5f, builder_.x()});
}

void ConformerParts::norm_x(const std::string& label, const std::string& name) {
  builder_.norm(prefix_ + label, source_ + name, builder_.x(), builder_.x());
}

}  // namespace mote::convert
