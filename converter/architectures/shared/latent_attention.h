// SPDX-License-Identifier: Apache-2.0
//
// Multi-head latent attention (DeepSeek-V2 2024): keys and values of all heads are linear in one latent
// vector of a token, and the cache keeps that. The matrices of a single head are multiplied into the queries
// and out of the sums, so heads attend to the latent itself, as to one head of keys and values.
#pragma once

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {

/// Names of weights as in LayerNames.
struct LatentSpec {
  uint32_t heads = 0;
  uint32_t plain_dim = 0, rope_dim = 0;  // columns of a head's query and key, without and with RoPE
  uint32_t value_dim = 0;                // of a head
  uint32_t rank = 0;                     // of the latent
  uint32_t q_rank = 0;                   // of the queries' own latent; 0: they have none
  float scale = 1.0f;
  uint32_t rope = 0;  // of TransformerSpec::ropes
  bool bias = false;  // of the projections from x and to it
  std::string q, q_a, q_norm, q_b, kv_a, kv_norm, kv_b;
  std::string k_b, v_b;  // in place of kv_b in some files: by heads [rank, plain_dim] and [value_dim, rank]
};

/// The keys that latent attention's configs share.
struct LatentDefaults {
  uint32_t heads, rank, q_rank, plain_dim, rope_dim;
  std::optional<uint32_t> value_dim;  // else the width shared by the heads
};
LatentSpec read_latent(Config& config, uint32_t width, const std::string& prefix,
                       const LatentDefaults& defaults);

/// x = sum(x + multiplier * after(attention(before(x)))), as TransformerBuilder::attention.
void latent_attention(TransformerBuilder& builder, const LayerSpec& layer, const LatentSpec& spec);

}  // namespace mote::convert
