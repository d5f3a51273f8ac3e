// SPDX-License-Identifier: Apache-2.0
//
// The registry of architectures and what their files share. To add one: a file that fills a TransformerSpec
// and a line in list.inc.
#pragma once

#include <span>

#include "converter/architectures/transformer_spec.h"
#include "converter/config.h"
#include "converter/source.h"

namespace mote::convert {

struct Architecture {
  const char* name;  // config.json's model_type
  TransformerSpec (*read)(const Source& source, Config& config);
};

/// All, in the order of list.inc.
const std::vector<Architecture>& architectures();

/// The architecture that the config names. Throws Error for an unknown one.
const Architecture& find_architecture(Config& config);

// ---- For the architectures' files; all throw Error naming the key. ----

/// Sizes are bounded so that no product of two overflows and a wrong one is said as such.
inline constexpr uint32_t kMaxSize = 1u << 24;
inline constexpr uint32_t kMaxLayers = 1u << 12;
inline constexpr uint32_t kMaxHeadDim = 1u << 10;

/// The keys and names that llama's relatives share: sizes, heads, rms norms, RoPE, a gated feed-forward.
TransformerSpec read_llama_like(const Source& source, Config& config);

/// Windows per layer of a model that alternates by layer_types or from max_window_layers on (Qwen).
std::vector<uint32_t> read_layer_windows(Config& config, uint32_t layers);

Activation read_activation(Config& config, const std::string& key, const std::string& fallback);

/// The frequencies for heads of `head_dim`, of both spellings of the config (rope_parameters; rope_theta and
/// rope_scaling). `divisors`, if not empty, divide them (GGUF's rope_freqs).
RopeSpec read_rope(Config& config, uint32_t head_dim, uint32_t context, std::span<const float> divisors);

}  // namespace mote::convert
