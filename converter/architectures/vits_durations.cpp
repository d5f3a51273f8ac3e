// SPDX-License-Identifier: Apache-2.0
//
// VITS's durations: splines of two numbers of noise, conditioned on the letters (Durkan et al. 2019).
#include <cmath>

#include "converter/architectures/vits.h"
#include "converter/layers/sound_stem.h"

namespace mote::convert {
namespace {

constexpr float kConvNormEps = 1e-5f;  // of norms between convolutions, whatever the config says

/// The predictor's parts. All weights are fine: a duration is rounded up to whole frames.
class Durations {
 public:
  Durations(TransformerBuilder& builder, const VitsSizes& sizes) : builder_(builder), sizes_(sizes) {}

  View value(uint32_t width) const { return builder_.new_value(width, Unit::token); }

  /// factor (weight in + bias) + residual; of the rows before `scaled` alone, of others weight in + bias.
  void linear(const std::string& name, View in, View out, std::optional<View> residual = std::nullopt,
              uint32_t scaled = 0, float factor = 1.0f) {
    const std::string source = kBase + name;
    RowConv conv{tensors().table(source + ".weight", out.width, in.width),
                 tensors().vector(source + ".bias", out.width),
                 1,
                 0,
                 1,
                 Role::fine};
    for (size_t i = 0; i < size_t{scaled} * in.width; ++i) conv.weight[i] *= factor;
    for (size_t i = 0; i < scaled; ++i) (*conv.bias)[i] *= factor;
    row_conv(builder_, kLabel + name, conv, in, out, Activation::none, residual);
  }

  /// x += gelu(norm(linear(gelu(norm(dilated convolution of x))))), for each layer of `name`.
  void convolutions(const std::string& name, View x) {
    uint32_t dilation = 1;
    for (uint32_t i = 0; i < sizes_.duration_layers; ++i, dilation *= sizes_.duration_taps) {
      const auto part = [&](const char* of) { return fmt::format("{}.{}.{}", name, of, i); };
      const DepthwiseSpec spec{kBase + part("convs_dilated"),
                               "",
                               sizes_.duration_taps,
                               sizes_.duration_taps / 2,
                               true,
                               Activation::none,
                               0.0f,
                               dilation};
      const View near = depthwise_conv(builder_, kLabel + part("convs_dilated"), spec, x);
      norm_and_gelu(part("norms_1"), near);
      const View mixed = value(x.width);
      linear(part("convs_pointwise"), near, mixed);
      norm_and_gelu(part("norms_2"), mixed);
      builder_.add(ScaleRowsNode{mixed, x, -1, 1.0f, x});
    }
  }

  /// second = the inverse of the spline that `first` and the letters choose.
  void unbend(uint32_t flow, View letters, View first, View second) {
    const std::string name = fmt::format("flows.{}", flow);
    const View h = value(sizes_.width), curve = value(3 * sizes_.bins - 1);
    linear(name + ".conv_pre", first, h, letters);
    convolutions(name + ".conv_dds", h);
    const float factor = 1.0f / std::sqrt(static_cast<float>(sizes_.width));
    linear(name + ".conv_proj", h, curve, std::nullopt, 2 * sizes_.bins, factor);
    builder_.add(SplineNode{sizes_.bins, sizes_.bound, second, curve, second});
  }

  /// The first number before flow 0: (x - translate) / exp(log_scale).
  void unscale(View x) {
    const std::vector<float> shift = tensors().table(std::string(kBase) + "flows.0.translate", 2, 1),
                             scale = tensors().table(std::string(kBase) + "flows.0.log_scale", 2, 1);
    const float factor = std::exp(-scale[0]);
    const int32_t weight = builder_.add_vector(std::string(kLabel) + "flows.0.weight", {factor});
    const int32_t bias = builder_.add_vector(std::string(kLabel) + "flows.0.bias", {-shift[0] * factor});
    builder_.add(NormNode{NormKind::affine, 0.0f, 1, weight, bias, x, x});
  }

 private:
  static constexpr const char* kBase = "duration_predictor.";
  static constexpr const char* kLabel = "durations.";

  TensorSet& tensors() { return builder_.tensors(); }
  void norm_and_gelu(const std::string& name, View x) {
    const int32_t weight =
        builder_.add_vector(kLabel + name, tensors().vector(kBase + name + ".weight", x.width));
    const int32_t bias =
        builder_.add_vector(kLabel + name + ".bias", tensors().vector(kBase + name + ".bias", x.width));
    builder_.add(NormNode{NormKind::layer, kConvNormEps, 1, weight, bias, x, x});
    builder_.add(ActivateNode{Activation::gelu, x, x});
  }

  TransformerBuilder& builder_;
  const VitsSizes& sizes_;
};

}  // namespace

View build_vits_durations(TransformerBuilder& builder, const VitsSizes& sizes) {
  Durations durations(builder, sizes);
  const View in = builder.input(sizes.width + 2);
  View first = columns(in, sizes.width, 1), second = columns(in, sizes.width + 1, 1);
  const View h = durations.value(sizes.width), letters = durations.value(sizes.width);
  durations.linear("conv_pre", columns(in, 0, sizes.width), h);
  add_speaker(builder, sizes, "duration_predictor.cond", "durations.speakers", sizes.width, 0, h);
  durations.convolutions("conv_dds", h);
  durations.linear("conv_proj", h, letters);
  // Flow 1, the last before flow 0, changes the number alone that is dropped.
  for (uint32_t flow = sizes.duration_flows; flow > 1; --flow) {
    std::swap(first, second);
    durations.unbend(flow, letters, first, second);
  }
  std::swap(first, second);
  durations.unscale(first);
  return first;
}

}  // namespace mote::convert
