// SPDX-License-Identifier: Apache-2.0
//
// VITS's flow of latents, of coupling layers with WaveNets (van den Oord et al. 2016), and HiFi-GAN.
#include <algorithm>

#include "converter/architectures/vits.h"
#include "converter/layers/sound_stem.h"

namespace mote::convert {
namespace {

constexpr float kLastSlope = 0.01f;  // torch's default
constexpr uint32_t kOuterTaps = 7;   // of HiFi-GAN's first and last convolution

View rows(TransformerBuilder& builder, uint32_t width) { return builder.new_value(width, Unit::token); }

RowConv conv_of(TransformerBuilder& builder, const std::string& source, uint32_t out, uint32_t in,
                uint32_t taps, uint32_t dilation = 1) {
  return {conv_weight(builder.tensors(), source, out, in, taps),
          builder.tensors().vector(source + ".bias", out), taps, taps / 2, dilation};
}

/// `count` outputs of a convolution from `first` on.
RowConv outputs_of(const RowConv& conv, uint32_t first, uint32_t count) {
  const size_t width = conv.weight.size() / conv.bias->size();
  const auto weight = conv.weight.begin() + static_cast<ptrdiff_t>(first * width);
  const auto bias = conv.bias->begin() + first;
  return {{weight, weight + static_cast<ptrdiff_t>(count * width)},
          {{bias, bias + count}},
          conv.taps,
          conv.before,
          conv.dilation};
}

/// The sum of the layers' outputs; h becomes what the last of them reads.
View build_wavenet(TransformerBuilder& builder, const VitsSizes& sizes, const std::string& source,
                   const std::string& label, View h) {
  const uint32_t width = h.width;
  const View sum = rows(builder, width);
  uint32_t dilation = 1;
  for (uint32_t i = 0; i < sizes.wavenet_layers; ++i, dilation *= sizes.wavenet_dilation) {
    const std::string number = std::to_string(i);
    const View both = rows(builder, 2 * width), value = columns(both, 0, width),
               gate = columns(both, width, width);
    row_conv(builder, label + "in." + number,
             conv_of(builder, source + "in_layers." + number, 2 * width, width, sizes.wavenet_taps, dilation),
             h, both);
    add_speaker(builder, sizes, source + "cond_layer", label + "speakers." + number,
                2 * width * sizes.wavenet_layers, 2 * width * i, both);
    builder.add(ActivateNode{Activation::sigmoid, gate, gate});
    builder.add(GateNode{Activation::tanh, value, gate, value});
    const bool last = i + 1 == sizes.wavenet_layers;
    const RowConv out =
        conv_of(builder, source + "res_skip_layers." + number, last ? width : 2 * width, width, 1);
    const std::optional<View> before = i == 0 ? std::nullopt : std::optional<View>(sum);
    if (!last)
      row_conv(builder, label + "residual." + number, outputs_of(out, 0, width), value, h, Activation::none,
               h);
    row_conv(builder, label + "skip." + number, last ? out : outputs_of(out, width, width), value, sum,
             Activation::none, before);
  }
  return sum;
}

/// second -= convolution(wavenet(convolution(first))). In the original the columns of both may be in reverse.
void uncouple(TransformerBuilder& builder, const VitsSizes& sizes, uint32_t flow, bool reversed, View first,
              View second) {
  const std::string source = fmt::format("flow.flows.{}.", flow), label = fmt::format("flow.{}.", flow);
  const uint32_t half = first.width;
  RowConv pre = conv_of(builder, source + "conv_pre", sizes.width, half, 1);
  RowConv post = conv_of(builder, source + "conv_post", half, sizes.width, 1);
  for (float& value : post.weight) value = -value;
  for (float& value : *post.bias) value = -value;
  if (reversed) {
    for (auto row = pre.weight.begin(); row != pre.weight.end(); row += half) std::reverse(row, row + half);
    std::vector<float> rows_reversed;
    for (auto end = post.weight.end(); end != post.weight.begin(); end -= sizes.width)
      rows_reversed.insert(rows_reversed.end(), end - sizes.width, end);
    post.weight = std::move(rows_reversed);
    std::reverse(post.bias->begin(), post.bias->end());
  }
  const View h = rows(builder, sizes.width);
  row_conv(builder, label + "pre", pre, first, h);
  const View sum = build_wavenet(builder, sizes, source + "wavenet.", label, h);
  row_conv(builder, label + "post", post, sum, second, Activation::none, second);
}

/// A transposed convolution [in, out, taps] as one over coarse rows, each of whose rows has the `rate` finer
/// rows side by side: finer row u * rate + r is made of coarse row u - d by tap r + padding + d * rate.
RowConv transposed(TransformerBuilder& builder, const std::string& source, uint32_t out, uint32_t in,
                   uint32_t taps, uint32_t rate) {
  const std::vector<float> stored = conv_weight(builder.tensors(), source, in, out, taps);
  const std::vector<float> bias = builder.tensors().vector(source + ".bias", out);
  const uint32_t padding = (taps - rate) / 2, reach = (padding + rate - 1) / rate, window = 2 * reach + 1;
  RowConv conv{std::vector<float>(size_t{rate} * out * in * window), std::vector<float>(), window, reach};
  for (size_t r = 0; r < rate; ++r) {
    conv.bias->insert(conv.bias->end(), bias.begin(), bias.end());
    for (size_t tap = 0; tap < window; ++tap) {
      // The window's tap is of the coarse row u + tap - reach.
      const size_t from = r + padding + size_t{reach} * rate;
      if (from < tap * rate || from - tap * rate >= taps) continue;
      const size_t own = from - tap * rate;
      for (size_t o = 0; o < out; ++o) {
        for (size_t i = 0; i < in; ++i)
          conv.weight[((r * out + o) * in + i) * window + tap] = stored[(i * out + o) * taps + own];
      }
    }
  }
  return conv;
}

/// The builder's rows become finer: `rate` for each of x.
View build_finer(TransformerBuilder& builder, const VitsSizes& sizes, size_t stage, View x) {
  const uint32_t rate = sizes.rates[stage], width = x.width / 2;
  builder.add(LeakyReluNode{sizes.slope, x, x});
  const View wide = rows(builder, rate * width);
  row_conv(builder, fmt::format("samples.{}.finer", stage),
           transposed(builder, fmt::format("decoder.upsampler.{}", stage), width, x.width,
                      sizes.rate_taps[stage], rate),
           x, wide);
  return builder.split_rows(wide, rate);
}

/// The block's output from x, which stays as it is: for each dilation x + a convolution, or two.
View build_block(TransformerBuilder& builder, const VitsSizes& sizes, size_t stage, size_t block, View x) {
  const size_t number = stage * sizes.block_taps.size() + block;
  const uint32_t taps = sizes.block_taps[block];
  const std::vector<uint32_t>& dilations = sizes.block_dilations[block];
  const View h = rows(builder, x.width), inner = rows(builder, x.width);
  View from = x;
  for (size_t i = 0; i < dilations.size(); ++i) {
    const auto conv = [&](const char* which, View in, View out, uint32_t dilation,
                          std::optional<View> residual) {
      row_conv(builder, fmt::format("samples.{}.{}.{}.{}", stage, block, which, i),
               conv_of(builder, fmt::format("decoder.resblocks.{}.{}.{}", number, which, i), x.width, x.width,
                       taps, dilation),
               in, out, Activation::none, residual);
    };
    builder.add(LeakyReluNode{sizes.slope, from, inner});
    if (sizes.convs_in_pairs) {
      const View middle = rows(builder, x.width);
      conv("convs1", inner, middle, dilations[i], std::nullopt);
      builder.add(LeakyReluNode{sizes.slope, middle, middle});
      conv("convs2", middle, h, 1, from);
    } else {
      conv("convs", inner, h, dilations[i], from);
    }
    from = h;
  }
  return h;
}

}  // namespace

View build_vits_flow(TransformerBuilder& builder, const VitsSizes& sizes) {
  const View all = builder.input(sizes.latents);
  const uint32_t half = sizes.latents / 2;
  const View low = columns(all, 0, half), high = columns(all, half, half);
  // Columns are reversed before each flow, so in place every second one has its halves the other way round.
  bool reversed = false;
  for (uint32_t flow = sizes.flows; flow-- > 0;) {
    reversed = !reversed;
    uncouple(builder, sizes, flow, reversed, reversed ? high : low, reversed ? low : high);
  }
  return all;
}

View build_vits_samples(TransformerBuilder& builder, const VitsSizes& sizes) {
  const View in = builder.input(sizes.latents);
  View x = rows(builder, sizes.channels);
  row_conv(builder, "samples.pre", conv_of(builder, "decoder.conv_pre", sizes.channels, in.width, kOuterTaps),
           in, x);
  add_speaker(builder, sizes, "decoder.cond", "samples.speakers", x.width, 0, x);
  for (size_t stage = 0; stage < sizes.rates.size(); ++stage) {
    x = build_finer(builder, sizes, stage, x);
    const size_t blocks = sizes.block_taps.size();
    const View sum = build_block(builder, sizes, stage, 0, x);
    for (size_t block = 1; block < blocks; ++block)
      builder.add(ScaleRowsNode{build_block(builder, sizes, stage, block, x), sum, -1, 1.0f, sum});
    builder.scale(sum, 1.0f / static_cast<float>(blocks));
    x = sum;
  }
  builder.add(LeakyReluNode{kLastSlope, x, x});
  const View sample = rows(builder, 1);
  const RowConv post{conv_weight(builder.tensors(), "decoder.conv_post", 1, x.width, kOuterTaps),
                     std::nullopt,
                     kOuterTaps,
                     kOuterTaps / 2,
                     1,
                     Role::fine};
  row_conv(builder, "samples.post", post, x, sample, Activation::tanh);
  const View frame = builder.new_value(sizes.hop(), builder.groups_of_rows(sizes.hop()));
  builder.add(StackRowsNode{sample, frame});
  return frame;
}

}  // namespace mote::convert
