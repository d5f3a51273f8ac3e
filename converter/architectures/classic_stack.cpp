// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/classic_stack.h"

#include <cmath>

namespace mote::convert {
namespace {

constexpr uint32_t kWholeText = 4096;  // tokens, of encoders whose config has no longest text

}  // namespace

std::vector<float> sine_frequencies(uint32_t width) {
  std::vector<float> frequencies(width / 2);
  for (uint32_t i = 0; i < width / 2; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
    frequencies[i] = std::pow(10000.0f, -exponent);
  }
  return frequencies;
}

TransformerSpec read_pre_norm_stack(Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize);
  spec.context = kWholeText;
  spec.norm = NormKind::layer;
  spec.norm_eps = 1e-5f;
  spec.norm_bias = true;
  spec.last_hidden_unnormed = true;
  spec.names.embedding = "embedding";
  spec.names.final_norm = "norm";
  spec.names.head = "head";
  spec.head.output_bias = "head.bias";
  LayerSpec layer;
  layer.attention =
      equal_heads(config, spec.width, config.size("num_heads", 1, kMaxSize), "hidden_size", "num_heads");
  layer.ffn = {Ffn::plain, Activation::relu, config.size("intermediate_size", 1, kMaxSize), true};
  const std::string prefix = "layers.{}.";
  layer.names.q = prefix + "attention.query";
  layer.names.k = prefix + "attention.key";
  layer.names.v = prefix + "attention.value";
  layer.names.o = prefix + "attention.output";
  layer.names.up = prefix + "linear1";
  layer.names.down = prefix + "linear2";
  layer.names.attention_norms.before = prefix + "norm1";
  layer.names.ffn_norms.before = prefix + "norm2";
  spec.repeat(layer, config.size("num_layers", 1, kMaxLayers));
  if (config.flag("sinusoidal_positions", false)) {
    if (spec.width % 2 != 0) config.refuse("hidden_size {} is odd and sinusoidal_positions true", spec.width);
    spec.sines = sine_frequencies(spec.width);
  }
  return spec;
}

void set_token_logits(TransformerSpec& spec, bool causal) {
  if (causal) return;
  spec.head.kind = OutputKind::masked_token;
  spec.head.output = "head";
}

}  // namespace mote::convert
