// SPDX-License-Identifier: Apache-2.0
#include "converter/layers/sound_stem.h"

#include <cmath>

#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

/// [rows, taps * cols] of [rows, cols, taps]; further columns are 0.
std::vector<float> taps_first(const std::vector<float>& weight, uint32_t rows, uint32_t cols, uint32_t taps,
                              uint32_t columns) {
  charge_table({rows, columns});
  std::vector<float> result(size_t{rows} * columns);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) {
      for (size_t tap = 0; tap < taps; ++tap)
        result[row * columns + tap * cols + col] = weight[(row * cols + col) * taps + tap];
    }
  }
  return result;
}

/// activation(weight in + bias) + residual; weight [out.width, in.width].
void conv_linear(TransformerBuilder& builder, const std::string& label, Role role,
                 const std::vector<float>& weight, std::optional<std::vector<float>> bias, View in, View out,
                 Activation activation, std::optional<View> residual) {
  WeightPart part = builder.tensors().computed(label, out.width, in.width, weight);
  const DType dtype = builder.policy().dtype(role, *part.tensor);
  BlockInput input{in};
  builder.linears("", input, {Projection{label, {std::move(part)}, dtype, std::move(bias)}}, out, activation,
                  residual);
}

std::optional<std::vector<float>> bias_of(TransformerBuilder& builder, const TimeConv& conv) {
  if (!conv.bias) return std::nullopt;
  return builder.tensors().vector(conv.source + ".bias", conv.width);
}

}  // namespace

View time_conv(TransformerBuilder& builder, const std::string& label, const TimeConv& conv, View in,
               Activation activation, Role role) {
  if (conv.before + conv.after >= conv.taps)
    fail("{}: {} taps over {} rows of padding", label, conv.taps, conv.before + conv.after);
  const std::vector<float> weight =
      builder.tensors().table(conv.source + ".weight", conv.width, in.width * conv.taps);
  builder.enter_groups(conv.stride, conv.taps - conv.before - conv.after);
  const View frames = builder.new_value(in.width * conv.taps, Unit::token);
  builder.add(FramesNode{conv.taps, conv.before, in, frames});
  const View out = builder.new_value(conv.width, Unit::token);
  conv_linear(builder, label, role, taps_first(weight, conv.width, in.width, conv.taps, frames.width),
              bias_of(builder, conv), frames, out, activation, std::nullopt);
  return out;
}

View waveform_conv(TransformerBuilder& builder, const std::string& label, const TimeConv& conv,
                   Activation activation) {
  const View in = builder.input(conv.stride);
  const uint32_t rows = (conv.taps + conv.stride - 1) / conv.stride;
  const std::vector<float> weight = builder.tensors().table(conv.source + ".weight", conv.width, conv.taps);
  builder.enter_groups(1, rows);
  const View frames = builder.new_value(rows * conv.stride, Unit::token);
  builder.add(FramesNode{rows, 0, in, frames});
  const View out = builder.new_value(conv.width, Unit::token);
  conv_linear(builder, label, Role::fine, taps_first(weight, conv.width, 1, conv.taps, frames.width),
              bias_of(builder, conv), frames, out, activation, std::nullopt);
  return out;
}

View add_positional_conv(TransformerBuilder& builder, const std::string& label, uint32_t groups,
                         uint32_t taps, Activation activation, const std::vector<float>& weight,
                         const std::vector<float>& bias, View x) {
  const uint32_t width = x.width / groups;
  const auto size = static_cast<ptrdiff_t>(size_t{width} * width * taps);
  const View out = builder.new_value(x.width, Unit::token);
  const View frames = builder.new_value(width * taps, Unit::token);
  for (uint32_t group = 0; group < groups; ++group) {
    const View of_group = columns(x, group * width, width);
    builder.add(FramesNode{taps, taps / 2, of_group, frames});
    const auto first = weight.begin() + group * size;
    const auto first_bias = bias.begin() + group * width;
    conv_linear(builder, fmt::format("{}.{}", label, group), Role::matrix,
                taps_first({first, first + size}, width, width, taps, frames.width),
                std::vector<float>(first_bias, first_bias + width), frames,
                columns(out, group * width, width), activation, of_group);
  }
  return out;
}

std::vector<float> weight_of_norm(TensorSet& tensors, const std::string& source, uint32_t rows, uint32_t cols,
                                  uint32_t taps, Magnitudes magnitudes) {
  const std::string parametrized = source + ".parametrizations.weight.original";
  const bool newer = tensors.has(parametrized + "0"), by_row = magnitudes == Magnitudes::by_row;
  const std::string name = newer ? parametrized + "0" : source + ".weight_g";
  std::vector<float> weight =
      tensors.table(newer ? parametrized + "1" : source + ".weight_v", rows, cols * taps);
  const std::vector<float> lengths = by_row ? tensors.table(name, rows, 1) : tensors.table(name, 1, taps);
  const size_t count = weight.size() / lengths.size();
  for (size_t part = 0; part < lengths.size(); ++part) {
    float* const first = &weight[by_row ? part * count : part];
    const size_t step = by_row ? 1 : taps;
    double squares = 0;
    for (size_t i = 0; i < count; ++i) squares += std::pow(static_cast<double>(first[i * step]), 2);
    const double factor = static_cast<double>(lengths[part]) / std::sqrt(squares);
    for (size_t i = 0; i < count; ++i)
      first[i * step] = static_cast<float>(static_cast<double>(first[i * step]) * factor);
  }
  return weight;
}

std::vector<float> conv_weight(TensorSet& tensors, const std::string& source, uint32_t rows, uint32_t cols,
                               uint32_t taps) {
  if (tensors.has(source + ".weight")) return tensors.table(source + ".weight", rows, cols * taps);
  return weight_of_norm(tensors, source, rows, cols, taps, Magnitudes::by_row);
}

void row_conv(TransformerBuilder& builder, const std::string& label, const RowConv& conv, View in, View out,
              Activation activation, std::optional<View> residual) {
  if (conv.taps == 1)
    return conv_linear(builder, label, conv.role, conv.weight, conv.bias, in, out, activation, residual);
  const View frames = builder.new_value(in.width * conv.taps, Unit::token);
  builder.add(FramesNode{conv.taps, conv.before, in, frames, conv.dilation});
  conv_linear(builder, label, conv.role,
              taps_first(conv.weight, out.width, in.width, conv.taps, frames.width), conv.bias, frames, out,
              activation, residual);
}

View depthwise_conv(TransformerBuilder& builder, const std::string& label, const DepthwiseSpec& spec,
                    View in) {
  TensorSet& tensors = builder.tensors();
  const uint32_t width = in.width;
  const std::vector<float> stored = tensors.table(spec.source + ".weight", width, spec.taps);
  std::vector<float> weight = taps_first(stored, 1, width, spec.taps, width * spec.taps);
  std::vector<float> bias(width);
  if (spec.bias) bias = tensors.vector(spec.source + ".bias", width);
  if (!spec.norm.empty()) {
    const auto vector = [&](const char* name) { return tensors.vector(spec.norm + name, width); };
    const std::vector<float> mean = vector(".running_mean"), variance = vector(".running_var"),
                             scale = vector(".weight"), shift = vector(".bias");
    tensors.ignore(spec.norm + ".num_batches_tracked");
    for (size_t c = 0; c < width; ++c) {
      const double factor = static_cast<double>(scale[c]) /
                            std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(spec.eps));
      bias[c] = static_cast<float>((static_cast<double>(bias[c]) - static_cast<double>(mean[c])) * factor +
                                   static_cast<double>(shift[c]));
      for (size_t tap = 0; tap < spec.taps; ++tap)
        weight[tap * width + c] = static_cast<float>(static_cast<double>(weight[tap * width + c]) * factor);
    }
  }
  const int32_t table =
      builder.add_weight({label, DType::f32, true, spec.taps, width, {}, std::move(weight)});
  const View out = builder.new_value(width, Unit::token);
  builder.add(DepthwiseConvNode{width, spec.taps, spec.before, 1, 0, 1, spec.activation, table,
                                builder.add_vector(label + ".bias", std::move(bias)), in, out,
                                spec.dilation});
  return out;
}

}  // namespace mote::convert
