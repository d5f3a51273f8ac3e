// SPDX-License-Identifier: Apache-2.0
//
// The space in which nearly every transformer is a point. An architecture's file fills this and is done;
// build_transformer.h turns it into a graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/graph.h"

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
  std::string embedding, positions, token_types, embedding_norm, embedding_projection, final_norm, head;
  std::string attention_norm, q, k, v, qkv, q_norm, k_norm, o;  // q, k, v or the fused qkv
  std::string ffn_norm, gate, up, down;
  std::vector<std::string> ignored;  // ends of names of tensors that hold no weights (masks, cached tables)
  std::vector<std::string> ignored_starts;  // of tensors of heads that are not wanted
};

/// norm(activation(dense(x))) on the way to an output.
struct DenseSpec {
  std::string name, norm;  // empty: there is none
  Activation activation = Activation::none;
  uint32_t width = 0;
};

/// What an encoder computes from its last hidden states: per token, or pooled per sequence.
struct HeadSpec {
  OutputKind kind = OutputKind::next_token;  // a decoder's logits
  PoolKind pool = PoolKind::first;           // of outputs per sequence
  DenseSpec dense;
  std::string output,
      output_bias;         // the bias where it is not output + ".bias"; logits over a tied vocabulary have
                           // the embedding for output. Neither for vectors and hidden states
  uint32_t width = 0;      // of the output
  bool normalize = false;  // vectors have length 1
  Probabilities probabilities = Probabilities::softmax;
  std::vector<std::string> labels;  // [width]
  DenseSpec pooler;                 // of a bare model: an output besides
};

/// Layers are x += attention(norm(x)), x += ffn(norm(x)), or with norms after: x = norm(x + attention(x)) and
/// so on.
struct TransformerSpec {
  uint32_t vocab, width, layers, context;
  uint32_t heads, kv_heads, head_dim;
  uint32_t ffn_width;
  NormKind norm = NormKind::rms;
  float norm_eps;
  bool norm_bias = false;
  bool norm_after = false;  // else before the attention and the feed-forward, and one after the last layer
  uint32_t embedding_width = 0;  // 0: width, else the embedding is projected to width
  uint32_t token_types = 0;      // rows of their table; 0: there is none
  uint32_t position_rows = 0;    // of the table of positions; 0: the context
  uint32_t first_position = 0;   // its row that sequences start at
  std::vector<uint32_t>
      weights_of;  // [layers], the layer whose weights each has, if they share them; else empty
  std::vector<float> attention_bias;  // [heads, 2 context - 1] by key - query, or empty
  Positions positions = Positions::rope;
  RopeSpec rope;
  bool qk_norm = false;                 // an rms norm of each head of q and k, before RoPE
  std::vector<uint32_t> windows;        // [layers], tokens a query sees; 0: all
  std::vector<float> attention_scales;  // [layers], of the scores
  Ffn ffn = Ffn::gated;
  Activation activation;
  // Biases that must be there; where this is false, a bias is used if the source has one.
  bool qkv_bias = false, o_bias = false, ffn_bias = false;
  bool tied_embedding;      // the head is the embedding
  bool transposed = false;  // the source has matrices as [in, out]
  int32_t bos_id = -1;
  HeadSpec head;
  /// Reads a whole text at once and generates none: the speed of matmuls of many rows counts.
  bool is_encoder() const { return convert::is_encoder(head.kind); }
  WeightNames names;
};

}  // namespace mote::convert
