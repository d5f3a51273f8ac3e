// SPDX-License-Identifier: Apache-2.0
//
// The space in which nearly every decoder is a point. An architecture's file fills this and is done;
// build_transformer.h turns it into a graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace mote::convert {

enum class Positions : uint8_t {
  learned,  // a table added to the embedding
  rope,     // queries and keys rotated
};

enum class Ffn : uint8_t {
  gated,  // down(activation(gate(x)) * up(x))
  plain,  // down(activation(up(x)))
};

struct RopeSpec {
  RopeKind kind = RopeKind::half;
  std::vector<float> frequencies;  // [rotated columns / 2]
  float scale = 1.0f;              // of the cosines and sines (YaRN's attention factor)
};

/// Names of the weights in the source, without ".weight" and ".bias". "{}" is the layer. Empty: there is
/// none.
struct WeightNames {
  std::string embedding, positions, final_norm, head;
  std::string attention_norm, q, k, v, qkv, q_norm, k_norm, o;  // q, k, v or the fused qkv
  std::string ffn_norm, gate, up, down;
  std::vector<std::string> ignored;  // ends of names of tensors that hold no weights (masks, cached tables)
};

/// A decoder whose layers are x += attention(norm(x)), x += ffn(norm(x)).
struct TransformerSpec {
  uint32_t vocab, width, layers, context;
  uint32_t heads, kv_heads, head_dim;
  uint32_t ffn_width;
  NormKind norm = NormKind::rms;
  float norm_eps;
  bool norm_bias = false;
  Positions positions = Positions::rope;
  RopeSpec rope;
  bool qk_norm = false;                 // an rms norm of each head of q and k, before RoPE
  std::vector<uint32_t> windows;        // [layers], tokens a query sees; 0: all
  std::vector<float> attention_scales;  // [layers], of the scores
  Ffn ffn = Ffn::gated;
  Activation activation;
  // Biases that must be there; where this is false, a bias is used if the source has one.
  bool qkv_bias = false, o_bias = false, ffn_bias = false;
  bool encoder =
      false;  // reads a whole text at once and generates none: the speed of matmuls of many rows counts
  bool tied_embedding;      // the head is the embedding
  bool transposed = false;  // the source has matrices as [in, out]
  int32_t bos_id = -1;
  WeightNames names;
};

}  // namespace mote::convert
