// SPDX-License-Identifier: Apache-2.0
//
// Blocks that mix the tokens of a layer in place of attention: convolutions and recurrences, from the blocks
// of transformer_builder.h. They carry states of a fixed size from call to call (kernels/recurrent_ops.h).
// All throw Error, naming the tensor.
#pragma once

#include <array>
#include <string>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// A convolution of each channel over its last rows. `source` names the weight [channels, 1, taps].
struct ConvSpec {
  std::string source;
  uint32_t taps = 0;
  bool bias = false;
  Activation activation = Activation::none;
};

/// Writes the convolution of `in` to `out`, which may be `in`. `label` names the weights in the file.
void causal_conv(TransformerBuilder& builder, const std::string& label, const ConvSpec& conv, View in,
                 View out);

/// The short convolution of LFM2 (Liquid AI 2025): c * conv(b * x), b, c and x by one projection.
struct ShortConvSpec {
  std::string in;  // [3 width, width]: b, c, x
  bool bias = false;
  ConvSpec conv;
};
View short_conv(TransformerBuilder& builder, const LayerSpec& layer, const ShortConvSpec& spec,
                BlockInput& in);

/// Mamba (Gu and Dao 2023). `base` starts the names of its tensors.
struct MambaSpec {
  std::string base;
  uint32_t width = 0;   // of the channels
  uint32_t states = 0;  // numbers of a channel
  uint32_t rank = 0;    // of the time steps
  bool bias = false;    // of the input's projection
  ConvSpec conv;
};
View mamba(TransformerBuilder& builder, const LayerSpec& layer, const MambaSpec& spec, BlockInput& in);

/// Mamba-2 (Dao and Gu 2024). `base` starts the names of its tensors.
struct Mamba2Spec {
  enum class Gate : uint8_t { alone, before_norm, after_norm };

  std::string base;
  uint32_t heads = 0, head_dim = 0, groups = 0;
  uint32_t states = 0;  // numbers of a channel
  float dt_min = 0.0f, dt_max = 0.0f;
  bool bias = false;  // of the input's projection
  ConvSpec conv;
  Gate gate = Gate::before_norm;
  uint32_t norm_groups = 1;  // parts of a row that are normalised by themselves
  std::array<float, 5> multipliers = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f};  // of gate, x, b, c and dt

  uint32_t width() const { return heads * head_dim; }
  uint32_t conv_width() const { return width() + 2 * groups * states; }
};
View mamba2(TransformerBuilder& builder, const LayerSpec& layer, const Mamba2Spec& spec, BlockInput& in);

/// The gated delta rule as Qwen3-Next and Qwen3.5 have it (Yang et al. 2024). `base` starts the names.
struct GatedDeltaSpec {
  std::string base;
  uint32_t heads = 0, key_heads = 0, key_dim = 0, value_dim = 0;
  ConvSpec conv;  // of queries, keys and values

  uint32_t k_width() const { return key_heads * key_dim; }
  uint32_t v_width() const { return heads * value_dim; }
};
View gated_delta(TransformerBuilder& builder, const LayerSpec& layer, const GatedDeltaSpec& spec,
                 BlockInput& in);

/// A layer of torch.nn's RNN, LSTM or GRU. Its tensors are named `base` + "weight_ih" + `suffix` and so on.
struct RecurrentSpec {
  CellKind kind = CellKind::lstm;
  std::string base, suffix;
  uint32_t width = 0;
  bool bias = true;
};
View recurrent_cell(TransformerBuilder& builder, const std::string& prefix, const RecurrentSpec& spec,
                    BlockInput& in);

/// x = sum(x + multiplier * after(mixer(before(x)))): `mix` gives the mixer's output before the projection
/// `out`.
template <class Mix>
void mixer_branch(TransformerBuilder& builder, const LayerSpec& layer, const std::string& out, bool out_bias,
                  Mix mix) {
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = builder.branch_input(layer, norms, "mixer");
  const View mixed = mix(in);
  builder.add_branch(layer, norms, "mixer", mixed,
                     builder.projection("out", of_layer(out, layer), builder.x().width, mixed.width,
                                        Role::matrix, out_bias));
}

}  // namespace mote::convert
