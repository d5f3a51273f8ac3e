// SPDX-License-Identifier: Apache-2.0
//
// Convolutions over time, and what stands in front of the layers of models of speech. Their weights become
// those of linears on frames (kernels/time_ops.h).
#pragma once

#include <string>
#include <vector>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// activation(convolution of in): the builder's rows become groups of in's, `stride` each.
View time_conv(TransformerBuilder& builder, const std::string& label, const TimeConv& conv, View in,
               Activation activation, Role role = Role::matrix);

/// Builds the convolution of samples, of which a row of the input has `stride`: needs no rows beyond a
/// window's.
View waveform_conv(TransformerBuilder& builder, const std::string& label, const TimeConv& conv,
                   Activation activation);

/// x + gelu(a convolution in `groups` with as many rows as x). `weight`: [width, width / groups, taps].
View add_positional_conv(TransformerBuilder& builder, const std::string& label, uint32_t groups,
                         uint32_t taps, Activation activation, const std::vector<float>& weight,
                         const std::vector<float>& bias, View x);

/// A convolution's weight [rows, cols, taps] whose magnitudes, by tap or by row, are a tensor of their own
/// (weight_norm, Salimans and Kingma 2016), under torch's older or newer names below `source`.
enum class Magnitudes : uint8_t { by_tap, by_row };
std::vector<float> weight_of_norm(TensorSet& tensors, const std::string& source, uint32_t rows, uint32_t cols,
                                  uint32_t taps, Magnitudes magnitudes = Magnitudes::by_tap);

/// That of magnitudes by row where there are such, else the weight as it is.
std::vector<float> conv_weight(TensorSet& tensors, const std::string& source, uint32_t rows, uint32_t cols,
                               uint32_t taps);

/// A convolution over as many rows as it gives, padded with zeros: in[row - before * dilation] and so on.
struct RowConv {
  std::vector<float> weight;  // [out, in, taps]
  std::optional<std::vector<float>> bias;
  uint32_t taps, before, dilation = 1;
  Role role = Role::matrix;
};
/// out = activation(convolution of in) + residual.
void row_conv(TransformerBuilder& builder, const std::string& label, const RowConv& conv, View in, View out,
              Activation activation = Activation::none, std::optional<View> residual = std::nullopt);

/// A depthwise convolution [channels, 1, taps] over as many rows as in, and the batch norm behind it, whose
/// stored statistics become part of the weights. `norm` empty: there is none.
struct DepthwiseSpec {
  std::string source, norm;
  uint32_t taps;
  uint32_t before;
  bool bias;
  Activation activation;
  float eps = 1e-5f;  // of the norm
  uint32_t dilation = 1;
};
View depthwise_conv(TransformerBuilder& builder, const std::string& label, const DepthwiseSpec& spec,
                    View in);

}  // namespace mote::convert
