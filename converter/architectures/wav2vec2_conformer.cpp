// SPDX-License-Identifier: Apache-2.0
//
// wav2vec 2.0 with Conformer blocks (Gulati et al. 2020): half a feed-forward, attention, a convolution, half
// a feed-forward.
#include "converter/architectures/wav2vec2.h"
#include "converter/layers/conformer_parts.h"
#include "converter/layers/sound_stem.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr double kBlockEps = 1e-5;  // of the norms in the blocks, whatever the config says

struct ConformerSizes {
  uint32_t taps;
  Activation activation;
};

/// A block's x += factor * branch; the branch reads the norm of x.
class ConformerBlock : ConformerParts {
 public:
  ConformerBlock(TransformerBuilder& builder, const LayerSpec& layer) : ConformerParts(builder, layer) {}

  void ffn(const std::string& name) {
    add_half_ffn(name + "_layer_norm", name + ".intermediate_dense", name + ".output_dense", true);
  }

  void attention() {
    const uint32_t width = builder_.x().width;
    const View normed = norm("self_attn_layer_norm");
    const View turned = builder_.new_value(width, Unit::token);
    builder_.add(ScaleRowsNode{normed, turned});
    builder_.add(RopeNode{builder_.rope_kind(0), layer_.attention.heads, builder_.rope_table(0), turned});
    const View q = builder_.new_value(width, Unit::token), k = builder_.new_value(width, Unit::token),
               v = builder_.new_value(width, Unit::token);
    linear("self_attn.linear_q", turned, q, Activation::none, true);
    linear("self_attn.linear_k", turned, k, Activation::none, true);
    linear("self_attn.linear_v", normed, v, Activation::none, true);
    add("self_attn.linear_out", builder_.attend_heads(layer_, q, k, v), true);
  }

  void convolution(const ConformerSizes& sizes) {
    const uint32_t width = builder_.x().width;
    const View normed = norm("conv_module.layer_norm");
    const View both = builder_.new_value(2 * width, Unit::token), value = columns(both, 0, width);
    pointwise("conv_module.pointwise_conv1", normed, both, std::nullopt);
    builder_.add(GateNode{Activation::sigmoid, columns(both, width, width), value, value});
    const DepthwiseSpec conv = {source_ + "conv_module.depthwise_conv",
                                source_ + "conv_module.batch_norm",
                                sizes.taps,
                                (sizes.taps - 1) / 2,
                                false,
                                sizes.activation};
    pointwise("conv_module.pointwise_conv2", depthwise_conv(builder_, prefix_ + "conv", conv, value),
              builder_.x(), builder_.x());
  }

  void end() { norm_x("final_norm", "final_layer_norm"); }

 private:
  /// A convolution of one tap, [out, in, 1].
  void pointwise(const std::string& name, View in, View out, std::optional<View> residual) {
    const std::vector<float> weight =
        builder_.tensors().table(source_ + name + ".weight", out.width, in.width);
    WeightPart part = builder_.tensors().computed(prefix_ + name, out.width, in.width, weight);
    const DType dtype = builder_.policy().dtype(Role::matrix, *part.tensor);
    BlockInput input{in};
    builder_.linears(prefix_, input, {Projection{name, {std::move(part)}, dtype, std::nullopt}}, out,
                     Activation::none, residual);
  }
};

}  // namespace

TransformerSpec read_wav2vec2_conformer(const Source& source, Config& config) {
  TransformerSpec spec = read_wav2vec2_like(source, config, false);
  require_no_language_adapters(config);
  const std::string kind = config.text("position_embeddings_type", "relative");
  if (kind != "rotary") config.refuse("position_embeddings_type {} is not supported; rotary is", kind);
  if (spec.norm_eps != static_cast<float>(kBlockEps))
    config.refuse("layer_norm_eps {} is not supported beside the blocks' own of {}", spec.norm_eps,
                  kBlockEps);
  const AttentionSpec& attention = spec.layers[0].attention;
  spec.ropes = {plain_rope(config, attention.head_dim, config.number("rotary_embedding_base", 10000))};
  const ConformerSizes sizes = {config.size("conv_depthwise_kernel_size", 1, 4096, 31),
                                spec.layers[0].ffn.activation};
  if (sizes.taps % 2 == 0) config.refuse("conv_depthwise_kernel_size {} is even", sizes.taps);
  config.value("max_source_positions");
  const std::string base = wav2vec2_base(source);
  for (LayerSpec& layer : spec.layers) {
    layer.names.q = base + "encoder.layers.{}.";
    layer.build = [sizes](TransformerBuilder& builder, const LayerSpec& own) {
      ConformerBlock block(builder, own);
      block.ffn("ffn1");
      block.attention();
      block.convolution(sizes);
      block.ffn("ffn2");
      block.end();
    };
  }
  spec.names.ignored_starts.push_back(base + "encoder.pos_conv_embed.");
  spec.names.ignored_starts.push_back(base + "encoder.embed_positions.");
  sum_layers(config, spec);
  return spec;
}

}  // namespace mote::convert
