// SPDX-License-Identifier: Apache-2.0
#include "converter/layers/encoder_blocks.h"

#include <fmt/format.h>

namespace mote::convert {

void TransformerBuilder::grouped_linear(const std::string& label, const std::string& source, uint32_t groups,
                                        View in, View out, Activation activation,
                                        std::optional<View> residual) {
  const uint32_t rows = out.width / groups, cols = in.width / groups;
  const WeightPart whole = tensors_.matrix(source + ".weight", out.width, cols, false);
  const std::vector<float> bias = tensors_.vector(source + ".bias", out.width);
  const DType dtype = policy_.dtype(Role::matrix, *whole.tensor);
  for (uint32_t group = 0; group < groups; ++group) {
    const std::string name = groups == 1 ? label : fmt::format("{}.{}", label, group);
    const uint32_t row = group * rows;
    WeightPart part = whole;
    part.first_row = row;
    part.rows = rows;
    BlockInput input{columns(in, group * cols, cols)};
    const View from = input_for(input, dtype);
    const int32_t weight = add_matrix(name, dtype, false, cols, {std::move(part)});
    const int32_t bias_index = add_vector(name + ".bias", {bias.begin() + row, bias.begin() + row + rows});
    const auto of_group = [&](View view) { return columns(view, row, rows); };
    std::optional<View> added;
    if (residual) added = of_group(*residual);
    add(LinearNode{weight, bias_index, activation, from, of_group(out), added});
  }
}

void add_fused_ffn(TransformerBuilder& builder, const LayerSpec& layer, const std::string& source,
                   FusedHalf activated, bool bias) {
  const uint32_t width = layer.ffn.width;
  const auto of_layer = [&](const std::string& name) {
    return fmt::format(fmt::runtime(name), layer.weights);
  };
  const BranchNorms& norms = layer.names.ffn_norms;
  BlockInput in = builder.branch_input(layer, norms, "ffn");
  const View both = builder.new_value(2 * width, Unit::token);
  const bool is_first = activated == FusedHalf::first;
  builder.linears(of_layer(layer.names.label), in,
                  {builder.projection(is_first ? "gate+up" : "up+gate", of_layer(source), 2 * width,
                                      in.f32.width, Role::matrix, bias)},
                  both, Activation::none, std::nullopt);
  const View first = columns(both, 0, width), second = columns(both, width, width);
  const View gate = is_first ? first : second, up = is_first ? second : first;
  builder.add(GateNode{layer.ffn.activation, gate, up, gate});
  builder.add_branch(layer, norms, "ffn", gate, builder.down(layer));
}

}  // namespace mote::convert
