// SPDX-License-Identifier: Apache-2.0
#include "converter/layers/mixers.h"

#include <cmath>

namespace mote::convert {
namespace {

/// [cols, rows] of [rows, cols].
std::vector<float> transposed(const std::vector<float>& values, uint32_t rows, uint32_t cols) {
  std::vector<float> result(values.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) result[col * rows + row] = values[row * cols + col];
  }
  return result;
}

int32_t add_table(TransformerBuilder& builder, const std::string& label, uint32_t rows, uint32_t cols,
                  std::vector<float> values) {
  return builder.add_weight({label, DType::f32, true, rows, cols, {}, std::move(values)});
}

int32_t add_vector(TransformerBuilder& builder, const std::string& label, const std::string& source,
                   uint32_t width) {
  return builder.add_vector(label, builder.tensors().vector(source, width));
}

/// -exp(values): decays are kept as the logarithms of their negatives.
std::vector<float> decays(std::vector<float> logarithms) {
  for (float& value : logarithms) value = -std::exp(value);
  return logarithms;
}

/// Returns the decays of a scan of so many heads; a GGUF has the decays themselves.
std::vector<float> decays_of(TransformerBuilder& builder, const std::string& base, uint32_t heads) {
  if (builder.tensors().has(base + "A")) return builder.tensors().vector(base + "A", heads);
  return decays(builder.tensors().vector(base + "A_log", heads));
}

View projected(TransformerBuilder& builder, const LayerSpec& layer, const std::string& label,
               const std::string& source, BlockInput& in, uint32_t width, bool bias) {
  const View out = builder.new_value(width, Unit::token);
  builder.linears(prefix_of(layer), in,
                  {builder.projection(label, source, width, in.f32.width, Role::matrix, bias)}, out,
                  Activation::none, std::nullopt);
  return out;
}

}  // namespace

void causal_conv(TransformerBuilder& builder, const std::string& label, const ConvSpec& conv, View in,
                 View out) {
  const std::vector<float> taps = builder.tensors().table(conv.source + ".weight", in.width, conv.taps);
  const int32_t weight =
      add_table(builder, label, conv.taps, in.width, transposed(taps, in.width, conv.taps));
  const int32_t bias = conv.bias ? add_vector(builder, label + ".bias", conv.source + ".bias", in.width) : -1;
  builder.add(CausalConvNode{builder.add_state(conv_tail(conv.taps, in.width)), conv.activation, weight, bias,
                             in, out});
}

View short_conv(TransformerBuilder& builder, const LayerSpec& layer, const ShortConvSpec& spec,
                BlockInput& in) {
  const uint32_t width = in.f32.width;
  const View all = projected(builder, layer, "conv_in", of_layer(spec.in, layer), in, 3 * width, spec.bias);
  const View b = columns(all, 0, width), c = columns(all, width, width), x = columns(all, 2 * width, width);
  builder.add(GateNode{Activation::none, b, x, x});
  ConvSpec conv = spec.conv;
  conv.source = of_layer(conv.source, layer);
  causal_conv(builder, prefix_of(layer) + "conv", conv, x, x);
  builder.add(GateNode{Activation::none, c, x, x});
  return x;
}

View mamba(TransformerBuilder& builder, const LayerSpec& layer, const MambaSpec& spec, BlockInput& in) {
  const std::string prefix = prefix_of(layer), base = of_layer(spec.base, layer);
  const View all = projected(builder, layer, "mamba_in", base + "in_proj", in, 2 * spec.width, spec.bias);
  const View x = columns(all, 0, spec.width), gate = columns(all, spec.width, spec.width);
  ConvSpec conv = spec.conv;
  conv.source = base + "conv1d";
  causal_conv(builder, prefix + "conv", conv, x, x);

  BlockInput scanned{x};
  const View steps =
      projected(builder, layer, "mamba_x", base + "x_proj", scanned, spec.rank + 2 * spec.states, false);
  BlockInput ranks{columns(steps, 0, spec.rank)};
  const View dt = builder.new_value(spec.width, Unit::token);
  builder.linears(prefix, ranks,
                  {builder.projection("mamba_dt", base + "dt_proj", spec.width, spec.rank, Role::fine, true)},
                  dt, Activation::none, std::nullopt);

  const bool has_decays = builder.tensors().has(base + "A");  // as a GGUF has them
  const std::vector<float> stored =
      builder.tensors().table(base + (has_decays ? "A" : "A_log"), spec.width, spec.states);
  std::vector<float> values = transposed(stored, spec.width, spec.states);
  if (!has_decays) values = decays(std::move(values));
  const int32_t decay = add_table(builder, prefix + "decay", spec.states, spec.width, std::move(values));
  const View out = builder.new_value(spec.width, Unit::token);
  builder.add(SelectiveScanNode{builder.add_state(recurrent(1, spec.states, spec.width)), decay, -1,
                                add_vector(builder, prefix + "skip", base + "D", spec.width), x, dt,
                                columns(steps, spec.rank, spec.states),
                                columns(steps, spec.rank + spec.states, spec.states), out});
  builder.add(GateNode{Activation::silu, gate, out, out});
  return out;
}

View mamba2(TransformerBuilder& builder, const LayerSpec& layer, const Mamba2Spec& spec, BlockInput& in) {
  const std::string prefix = prefix_of(layer), base = of_layer(spec.base, layer);
  const uint32_t width = spec.width(), b_width = spec.groups * spec.states;
  const uint32_t all_width = width + spec.conv_width() + spec.heads;
  const View all = projected(builder, layer, "mamba_in", base + "in_proj", in, all_width, spec.bias);
  const View gate = columns(all, 0, width), mixed = columns(all, width, spec.conv_width());
  const View x = columns(mixed, 0, width), b = columns(mixed, width, b_width),
             c = columns(mixed, width + b_width, b_width),
             dt = columns(all, width + spec.conv_width(), spec.heads);
  if (spec.multipliers != Mamba2Spec{}.multipliers) {
    std::vector<float> factors;
    const View parts[] = {gate, x, b, c, dt};
    for (size_t i = 0; i < spec.multipliers.size(); ++i)
      factors.insert(factors.end(), parts[i].width, spec.multipliers[i]);
    builder.add(ScaleRowsNode{all, all, builder.add_vector(prefix + "mamba_in_scale", factors)});
  }
  ConvSpec conv = spec.conv;
  conv.source = base + "conv1d";
  causal_conv(builder, prefix + "conv", conv, mixed, mixed);

  const std::vector<float> decay = decays_of(builder, base, spec.heads);
  const View out = builder.new_value(width, Unit::token);
  builder.add(SsmScanNode{builder.add_state(recurrent(spec.heads, spec.states, spec.head_dim)), spec.groups,
                          spec.dt_min, spec.dt_max, builder.add_vector(prefix + "decay", decay),
                          add_vector(builder, prefix + "dt_bias", base + "dt_bias", spec.heads),
                          add_vector(builder, prefix + "skip", base + "D", spec.heads), x, dt, b, c, out});
  if (spec.gate != Mamba2Spec::Gate::after_norm) builder.add(GateNode{Activation::silu, gate, out, out});
  if (spec.gate != Mamba2Spec::Gate::alone) {
    const int32_t weight = add_vector(builder, prefix + "mamba_norm", base + "norm.weight", width);
    const bool one = spec.norm_groups == 1;
    builder.add(
        NormNode{NormKind::rms, builder.norm_eps(), spec.norm_groups, one ? weight : -1, -1, out, out});
    if (!one) builder.add(ScaleRowsNode{out, out, weight});
  }
  if (spec.gate == Mamba2Spec::Gate::after_norm) builder.add(GateNode{Activation::silu, gate, out, out});
  return out;
}

View gated_delta(TransformerBuilder& builder, const LayerSpec& layer, const GatedDeltaSpec& spec,
                 BlockInput& in) {
  const std::string prefix = prefix_of(layer), base = of_layer(spec.base, layer);
  const uint32_t k_width = spec.k_width(), v_width = spec.v_width(), mixed_width = 2 * k_width + v_width;
  const View all = builder.new_value(mixed_width + v_width + 2 * spec.heads, Unit::token);
  std::vector<Projection> parts;
  const auto project = [&](const char* label, const std::string& source, uint32_t rows, Role role) {
    parts.push_back(builder.projection(label, base + source, rows, in.f32.width, role, false));
  };
  project("delta_qkv", "in_proj_qkv", mixed_width, Role::matrix);
  project("delta_z", "in_proj_z", v_width, Role::matrix);
  project("delta_b", "in_proj_b", spec.heads, Role::fine);
  project("delta_a", "in_proj_a", spec.heads, Role::fine);
  builder.linears(prefix, in, std::move(parts), all, Activation::none, std::nullopt);
  const View mixed = columns(all, 0, mixed_width), z = columns(all, mixed_width, v_width),
             beta = columns(all, mixed_width + v_width, spec.heads),
             dt = columns(all, mixed_width + v_width + spec.heads, spec.heads);
  ConvSpec conv = spec.conv;
  conv.source = base + "conv1d";
  causal_conv(builder, prefix + "conv", conv, mixed, mixed);

  constexpr float kEps = 1e-6f;  // of the lengths of queries and keys
  const float scale = static_cast<float>(1.0 / std::sqrt(spec.key_dim));
  const std::vector<float> decay = decays_of(builder, base, spec.heads);
  const View out = builder.new_value(v_width, Unit::token);
  builder.add(GatedDeltaNode{builder.add_state(recurrent(spec.heads, spec.key_dim, spec.value_dim)),
                             spec.key_heads, scale, kEps, builder.add_vector(prefix + "decay", decay),
                             add_vector(builder, prefix + "dt_bias", base + "dt_bias", spec.heads),
                             columns(mixed, 0, k_width), columns(mixed, k_width, k_width),
                             columns(mixed, 2 * k_width, v_width), dt, beta, out});
  const int32_t weight = add_vector(builder, prefix + "delta_norm", base + "norm.weight", spec.value_dim);
  builder.add(NormNode{NormKind::rms, builder.norm_eps(), spec.heads, weight, -1, out, out});
  builder.add(GateNode{Activation::silu, z, out, out});
  return out;
}

View recurrent_cell(TransformerBuilder& builder, const std::string& prefix, const RecurrentSpec& spec,
                    BlockInput& in) {
  constexpr uint32_t kGates[] = {1, 4, 3};
  const uint32_t width = spec.width, all = kGates[static_cast<size_t>(spec.kind)] * width;
  TensorSet& tensors = builder.tensors();
  const auto name = [&](const char* what) { return spec.base + what + spec.suffix; };
  WeightPart part = tensors.matrix(name("weight_ih"), all, in.f32.width, false);
  const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
  std::optional<std::vector<float>> bias;
  if (spec.bias) bias = tensors.vector(name("bias_ih"), all);
  const View gates = builder.new_value(all, Unit::token);
  builder.linears(prefix, in, {Projection{"cell_in", {std::move(part)}, dtype, std::move(bias)}}, gates,
                  Activation::none, std::nullopt);
  const std::vector<float> own = tensors.table(name("weight_hh"), all, width);
  const int32_t weight = add_table(builder, prefix + "cell", width, all, transposed(own, all, width));
  const int32_t own_bias = spec.bias ? add_vector(builder, prefix + "cell.bias", name("bias_hh"), all) : -1;
  const uint32_t state = builder.add_state(recurrent(1, spec.kind == CellKind::lstm ? 2 : 1, width));
  const View out = builder.new_value(width, Unit::token);
  builder.add(RecurrentCellNode{spec.kind, state, weight, own_bias, gates, out});
  return out;
}

}  // namespace mote::convert
