// SPDX-License-Identifier: Apache-2.0
//
// GPT-OSS (OpenAI 2025): attention with sinks, windows in every other layer, and mixtures whose gates are
// clamped.
#include "converter/architectures/mixtures.h"

namespace mote::convert {

TransformerSpec read_gpt_oss(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "gpt_oss");
  if (config.value("quantization_config") != nullptr)
    config.refuse(
        "quantization_config: the experts are in MXFP4, which is not read yet; a checkpoint in bfloat16 is");
  const uint32_t window = config.size("sliding_window", 1, kMaxSize, 128);
  const std::vector<bool> sliding =
      read_sliding_layers(config, spec.layers.size(), [](uint32_t layer) { return layer % 2 == 0; });
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  MixtureSpec experts;
  experts.width = spec.layers[0].ffn.width;
  read_experts(config, {"num_local_experts", 128, 4}, experts);
  if (source.format == "gguf") {  // which has a matrix for each
    experts.gate = prefix + "mlp.experts.[].gate_proj";
    experts.up = prefix + "mlp.experts.[].up_proj";
    experts.down = prefix + "mlp.experts.[].down_proj";
    experts.biases = true;
  } else {
    experts.layout = MixtureSpec::Layout::pairs;
    experts.gate = prefix + "mlp.experts.gate_up_proj";
    experts.down = prefix + "mlp.experts.down_proj";
  }
  experts.router = prefix + "mlp.router";
  experts.router_bias = true;
  experts.scores = Scores::softmax_of_chosen;
  experts.limit = static_cast<float>(config.number("swiglu_limit", 7.0));
  if (!(experts.limit > 0)) config.refuse("swiglu_limit is {}", experts.limit);
  // gate * sigmoid(1.702 gate)
  experts.activation = Activation::quick_gelu;
  if (config.number("swiglu_alpha", 1.702) != 1.702) config.refuse("swiglu_alpha is not 1.702");
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.attention.window = sliding[i] ? window : 0;
    layer.names.sinks = prefix + "self_attn.sinks";
    set_mixture(layer, experts);
  }
  return spec;
}

}  // namespace mote::convert
