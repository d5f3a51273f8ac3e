// SPDX-License-Identifier: Apache-2.0
//
// The encoder-decoder of "Attention is all you need" (Vaswani et al. 2017), with PyTorch's names: sines and
// cosines side by side, norms behind the sums or, where norm_first is set, before the branches, one embedding
// for both sides and the head.
#include <cmath>
#include <utility>

#include "converter/architectures/architecture.h"
#include "converter/architectures/encoder_decoder.h"
#include "converter/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kPositions = 1024;  // that are in the file; the original knows no limit

/// [rows, width]: sines in even columns, cosines in odd ones.
std::vector<float> interleaved_sines(uint32_t rows, uint32_t width) {
  std::vector<float> table(size_t{rows} * width);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < width; ++column) {
      const double angle = row * std::pow(10000.0, -static_cast<double>(column / 2 * 2) / width);
      table[size_t{row} * width + column] =
          static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

/// Layer norms, or such that divide by the deviation + eps, of a sample or of all.
void read_classic_norm(Config& config, TransformerSpec& spec) {
  set_layer_norms(1e-5, spec);
  const nlohmann::json* const json = config.value("norm");
  if (json == nullptr) return;
  Config norm = config.inner(*json, "norm.");
  const std::string kind = norm.text("kind", "layer_norm"), sigma = norm.text("sigma", "population");
  spec.norm_eps = static_cast<float>(norm.number("eps", 1e-5));
  norm.finish();
  if (kind == "layer_norm") return;
  if (kind != "sigma_plus_eps") config.refuse("norm.kind {} is not supported", kind);
  spec.norm_eps_outside_root = true;
  if (sigma == "population") return;
  if (sigma != "sample" || spec.width < 2) config.refuse("norm.sigma {} is not supported", sigma);
  // w x / (f s + eps) with the population's s is (w / f) x / (s + eps / f).
  const float factor = std::sqrt(static_cast<float>(spec.width) / static_cast<float>(spec.width - 1));
  spec.norm_eps /= factor;
  spec.norm_multiplier = 1.0f / factor;
}

LayerSpec classic_layer(Config& config, const TransformerSpec& spec, bool decoder) {
  const bool first = config.flag("norm_first", false);
  const std::string prefix = decoder ? "decoder.layers.{}." : "encoder.layers.{}.";
  const auto set_norm = [&](BranchNorms& norms, const char* name) {
    (first ? norms.before : norms.sum) = prefix + name;
  };
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("nhead", 1, kMaxSize), "d_model", "nhead");
  layer.ffn = {Ffn::plain, read_activation(config, "activation", "relu"),
               config.size("dim_feedforward", 1, kMaxSize, 2048), true};
  LayerNames& names = layer.names;
  names.qkv = prefix + "self_attn.in_proj";
  names.o = prefix + "self_attn.out_proj";
  set_norm(names.attention_norms, "norm1");
  if (decoder) {
    LayerSpec cross = layer;
    cross.names.qkv = prefix + "multihead_attn.in_proj";
    cross.names.o = prefix + "multihead_attn.out_proj";
    set_norm(cross.names.attention_norms, "norm2");
    set_cross(std::move(cross), layer);
  }
  names.up = prefix + "linear1";
  names.down = prefix + "linear2";
  set_norm(names.ffn_norms, decoder ? "norm3" : "norm2");
  return layer;
}

TransformerSpec classic_side(Config& config, bool decoder) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("d_model", 2, kMaxSize);
  spec.context = kPositions;
  read_classic_norm(config, spec);
  const char* const layers = decoder ? "num_decoder_layers" : "num_encoder_layers";
  spec.repeat(classic_layer(config, spec, decoder), config.size(layers, 1, kMaxLayers, 6));
  if (config.flag("scale_embedding", true))
    spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  spec.position_table = interleaved_sines(kPositions, spec.width);
  spec.names.embedding = "embedding";
  if (config.flag("norm_first", false)) spec.names.final_norm = decoder ? "decoder.norm" : "encoder.norm";
  return spec;
}

}  // namespace

TransformerSpec read_transformer(const Source&, Config& config) {
  if (config.text("positions", "sinusoidal_interleaved") != "sinusoidal_interleaved")
    config.refuse("positions other than sinusoidal_interleaved are not supported");
  require_flag(config, "share_embeddings", true);
  TransformerSpec spec = classic_side(config, true);
  spec.tied_embedding = true;
  spec.names.head = "head";
  set_encoder(config, classic_side(config, false), spec);
  spec.bos_id = config.token_id("start_token_id", spec.vocab);
  return spec;
}

}  // namespace mote::convert
