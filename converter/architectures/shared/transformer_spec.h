// SPDX-License-Identifier: Apache-2.0
//
// A transformer as data: sizes, names of weights and a list of layers. An architecture's file fills this;
// build_transformer.h turns it into a graph. docs/adding-an-architecture.md goes through it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "converter/graph.h"
#include "converter/resize_positions.h"

namespace mote::convert {

class TransformerBuilder;
struct LayerSpec;

/// An index into a list of the TransformerSpec that names none of its items.
inline constexpr uint32_t kNone = UINT32_MAX;

enum class Ffn : uint8_t {
  gated,  // down(activation(gate(x)) * up(x))
  plain,  // down(activation(up(x)))
};

enum class Branches : uint8_t {
  serial,    // x += attention(x), then x += ffn(x)
  parallel,  // x += attention(x) + ffn(x)
};

struct RopeSpec {
  RopeKind kind = RopeKind::half;
  std::vector<float> frequencies = {};  // [rotated columns / 2]
  float scale = 1.0f;                   // of the cosines and sines (YaRN's attention factor)
  float growth = 0.0f;                  // of the scale with the position (kernels/ops.h)
  uint32_t growth_every = 1;
};

/// The name of a norm that has no weight.
inline constexpr const char* kUnweighted = "(unweighted)";

/// The columns that the norms of q and k are over.
enum class HeadNorm : uint8_t {
  rms,          // each head; all have the same weights
  rms_whole,    // all heads at once
  layer_own,    // each head with weights of its own, a layer norm without bias
  layer_whole,  // all heads at once, a layer norm with bias
};

/// Names of weights in the source, without ".weight" and ".bias". Empty: there is none.
struct WeightNames {
  std::string embedding, positions, token_types, embedding_norm, embedding_projection, final_norm,
      output_projection, head;
  // Names of a source's weights: learned positions that are added to the source's last hidden states, and a
  // matrix that the states pass, before the decoder attends to them.
  std::string source_positions, source_projection;
  std::vector<std::string> ignored;  // ends of names of tensors that hold no weights (masks, cached tables)
  std::vector<std::string> ignored_starts;  // of tensors of heads that are not wanted
};

/// The norms of a branch, by name: x = sum(x + multiplier * scale * after(branch(before(x)))). A parallel
/// feed-forward without a norm before reads what the attention reads, and its `sum` is of both branches.
struct BranchNorms {
  std::string before, after, sum;
  std::string scale = {};  // whole: of a factor for each column, of the branch
};

/// As WeightNames; "{}" in a name stands for the layer's `weights`.
struct LayerNames {
  std::string label = "layer.{}.";  // starts the weights' names in the file
  std::string q, k, v, qkv, o;      // q, k, v or the fused qkv; without v the values are the keys
  std::string q_norm, k_norm;       // of AttentionSpec::head_norm
  std::string v_norm;               // rms of each head
  std::string o_norm;               // of the heads' outputs side by side
  std::string o_gate;               // of a number for each head: its sigmoid scales the head's outputs
  std::string sinks;                // whole, without ".weight"
  std::string gate, up, down;       // gate of Ffn::gated only
  std::string gate_up;              // or both in one, the gate first
  std::string down_norm;            // of the inner values
  std::string xielu;                // starts the names of its coefficients; it is the activation then
  BranchNorms attention_norms, ffn_norms;
  // After the feed-forward: x += norm(projection(activation(gate(x)) * the layer's part of PerLayerSpec)).
  std::string input_gate, input_projection, input_norm;
  std::string scalar;  // whole, without ".weight": a number that the layer's output is multiplied by
};

/// Inputs of the layers besides x, made of the embedding and of a table of their own (Gemma 4), [layers,
/// width]: (norm(projection(x) / sqrt(width of x)) + table[id] * sqrt(width)) / sqrt(2). Without a table
/// (EmbeddingGemma 2) norm(projection(x) / sqrt(width of x)).
struct PerLayerSpec {
  uint32_t width = 0;  // 0: there are none
  uint32_t rows = 0;   // of the table, 0: there is none; ids from there on take its row 0
  std::string table, projection, norm;
};

/// Products of queries with keys by distance, and of keys with queries by distance, that are added to scores
/// before the scale (kernels/ops.h), and a bias, which is after it; empty: there are none of that kind.
struct RelativeSpec {
  std::vector<float> keys, queries;  // [heads * head_dim, 2 n - 1], by key - query
  std::vector<float> bias;           // [heads, 2 n - 1]
};

struct AttentionSpec {
  uint32_t heads = 0, kv_heads = 0;
  uint32_t head_dim = 0;        // of queries and keys
  uint32_t value_dim = 0;       // of a head's values and outputs; 0: head_dim
  float scale = 1.0f;           // of the scores
  uint32_t window = 0;          // tokens a query sees; 0: all
  uint32_t rope = kNone;        // of TransformerSpec::ropes
  uint32_t query_rope = kNone;  // that of the queries, where it is another
  uint32_t bias = kNone;        // of TransformerSpec::attention_biases
  uint32_t shared = kNone;  // the earlier layer whose keys and values it attends to, having none of its own
  float softcap = 0.0f;     // c: scores become c tanh(score / c); 0: they do not
  std::vector<float> slopes = {};  // ALiBi's, of each head
  bool slopes_in_bf16 = false;     // as Falcon rounds them (ScoreKind::alibi_bf16)
  float clip = 0.0f;               // of q, k and v, to +-clip; 0: they are not
  HeadNorm head_norm = HeadNorm::rms;
  bool norm_after_rope = false;
  bool q_has_gate = false;    // names.q has behind each head's rows as many whose sigmoids scale its outputs
  bool qkv_by_group = false;  // rows of names.qkv: of each head of keys its queries, key and value
  std::function<RelativeSpec(TransformerBuilder&, const LayerSpec&)> relative = nullptr;
  bool causal = false;  // of an encoder: a query sees none behind it
  uint32_t block = 0;   // of an encoder: BigBird's pattern (schema/mote.fbs); 0: all
  uint32_t random_blocks = 0;
  uint32_t sides = 0;        // of an encoder: tokens that a query sees before and behind it; 0: all
  bool global_keys = false;  // beside these, the global ones (TransformerSpec::globals)
  // Biases that must be there; where this is false, there are none (but see optional_biases).
  bool qkv_bias = false, o_bias = false;

  uint32_t q_width() const { return heads * head_dim; }
  uint32_t k_width() const { return kv_heads * head_dim; }
  uint32_t v_width() const { return kv_heads * value_width(); }
  uint32_t out_width() const { return heads * value_width(); }
  uint32_t value_width() const { return value_dim != 0 ? value_dim : head_dim; }
};

struct FfnSpec {
  Ffn kind = Ffn::gated;
  Activation activation = Activation::silu;
  uint32_t width = 0;
  bool bias = false;             // as in AttentionSpec
  bool squared = false;          // the activation's values are squared
  float gate_multiplier = 1.0f;  // of gate(x), before the activation
  // Standard deviations above the mean of gate(x) that are subtracted from it; what is below becomes 0.
  std::optional<float> cutoff = std::nullopt;
};

struct LayerSpec {
  AttentionSpec attention;
  FfnSpec ffn;
  Branches branches = Branches::serial;
  float residual_multiplier = 1.0f;  // of each branch, where it is added
  uint32_t weights = 0;              // what "{}" in names stands for; layers of the same number share theirs
  LayerNames names;
  /// The branch of a decoder with a source, between attention and feed-forward, that attends to the source;
  /// its attention, names and residual_multiplier count. Null: there is none.
  std::shared_ptr<const LayerSpec> cross = nullptr;
  /// Builds a layer that these data do not describe, from the same blocks (transformer_builder.h). Null: they
  /// do.
  std::function<void(TransformerBuilder&, const LayerSpec&)> build = nullptr;
};

/// norm(activation(dense(x))) on the way to an output.
struct DenseSpec {
  std::string name, norm;  // empty: there is none
  Activation activation = Activation::none;
  uint32_t width = 0;
  bool bias = true;
  bool layer_norm = false;  // the norm is one of layers, whatever TransformerSpec::norm is
};

/// The values that an encoder computes from its last hidden states: per token, or pooled per sequence.
struct HeadSpec {
  OutputKind kind = OutputKind::next_token;  // a decoder's logits
  PoolKind pool = PoolKind::first;           // of outputs per sequence
  int32_t padding = -1;                      // a token whose rows the last one is not taken of
  std::vector<PoolKind> more_pools;          // whose vectors stand behind that one's
  std::vector<DenseSpec> projections;        // of vectors, one after the other
  DenseSpec dense;
  bool dense_of_tokens = false;  // what is pooled has passed `dense`
  std::string output_rest = {};  // [in, out]: a tied head's weights of the columns behind the embedding's
  std::string output,
      output_bias;     // the bias where it is not output + ".bias"; logits over a tied vocabulary have
                       // the embedding for output. Neither for vectors and hidden states
  uint32_t width = 0;  // of the output
  std::optional<LogitScore> score =
      std::nullopt;                 // the output is of these rows of the matrix over the vocabulary
  bool has_bias = true;             // the output
  bool normalize = false;           // vectors have length 1
  bool first_two = false;           // the mean of the first two rows is pooled
  std::string pooled_norm = {};     // of the pooled rows
  bool hidden_before_norm = false;  // the last of the hidden states that are traced has not passed final_norm
  Probabilities probabilities = Probabilities::softmax;
  std::vector<std::string> labels;  // [width]
  DenseSpec pooler;                 // of a bare model: an output besides
};

/// Makes other rows of rows: residual streams of the embedding, or one row of such streams.
using Remake = std::function<View(TransformerBuilder&, View)>;

/// Makes the rows of the first layer of the caller's floats, in place of an embedding; the layers have rows
/// of the unit of what it returns.
using Stem = std::function<View(TransformerBuilder&)>;

/// A convolution [out, in, taps] of the source over rows padded with zeros.
struct TimeConv {
  std::string source;
  uint32_t width;  // out
  uint32_t taps, stride;
  uint32_t before = 0, after = 0;  // rows of zeros
  bool bias = true;
};

/// The computation of a stem, for those that read graphs: convolutions with an activation behind each, and
/// `positions` that are added to their `rows` rows.
struct ConvStem {
  std::vector<TimeConv> convs = {};
  Activation activation = Activation::gelu;
  std::string positions = {};
  uint32_t bins = 0, rows = 0;
};

/// Learned rows beside those of patches, by the whole name of their tensor.
struct LearnedRows {
  std::string name;
  uint32_t rows = 1;
};

/// A model of pictures: x is a linear of each patch, between learned rows, with positions.
struct PictureSpec {
  PictureFormat format;    // its height 0: the model reads tokens
  std::string projection;  // [width, channels, patch, patch]
  bool bias = true;        // of the projection
  std::vector<LearnedRows> before, after;
  std::string positions;           // whole; empty: there are none
  bool resizes_positions = false;  // to the size that the source's steps give
  bool takes_any_size = false;     // positions, a square, may be resized to each picture's size, bicubically
  bool resizes_in_run = false;     // positions of any grid may be so, by an operation that knows its patches
  PatchGrid table;                 // of the stored positions, where they are resized
  std::string
      positions_behind_norm;  // of the patches, added behind the embedding's norm; empty: there are none
  bool positions_of_patches = false;  // learned rows have none
  std::vector<uint32_t> position_order =
      {};                       // of each row of the program, the row of the table; empty: the same
  bool bias_of_linear = false;  // the projection's bias is not in the table of positions
  /// Makes the rows of outputs of x, behind final_norm (OutputKind::hidden). Null: they are x.
  std::function<void(TransformerBuilder&)> finish = nullptr;
  std::string pooled_norm;     // of the vector of the sequence
  uint32_t pool_skip = 0;      // rows that the pooling leaves out
  std::string attention_pool;  // starts the names of SigLIP's pooling head
  std::string boxes;           // starts the names of what makes boxes of rows (YOLOS)
  DenseSpec second;            // labels of the second row, averaged with the head's (DeiT)
  std::string probe;           // the name of the output's vectors in the original
};

/// A further program of an encoder, of whole sequences of the caller's floats; `build` begins with these
/// (TransformerBuilder::input) and gives the rows that its outputs are.
struct ProgramSpec {
  std::string name;
  uint32_t context = 0;  // the most rows of a sequence; 0: the model's
  Stem build = nullptr;
};

struct TransformerSpec {
  uint32_t vocab, width, context;
  uint32_t layer_rows = 0;  // the most that layers of groups have of a sequence; 0: the context
  Stem stem = nullptr;      // null: rows are of ids
  std::shared_ptr<const ConvStem> conv_stem = nullptr;  // what the stem computes, where it is one
  // Makes the head's rows of those of the last layer that it reads, of a decoder one; null: they are the
  // same.
  Remake before_head = nullptr;
  std::optional<SoundSpec> sound = std::nullopt;
  NormKind norm = NormKind::rms;  // of all norms but those of q, k and v
  float norm_eps;
  bool norm_bias = false;
  bool norm_eps_outside_root = false;   // they divide by the deviation + norm_eps
  float norm_multiplier = 1.0f;         // of their weights
  bool norm_plus_one = false;           // norms multiply by 1 + their weight
  std::string norm_weight = ".weight";  // ends the names of their weights
  uint32_t embedding_width = 0;         // 0: width, else the embedding is projected to width
  uint32_t output_width = 0;            // of names.output_projection, which follows the final norm
  bool embedding_projection_bias = true;
  float embedding_multiplier = 1.0f;  // of the embedding's rows, before types and positions are added
  float logit_multiplier = 1.0f;      // of logits over the vocabulary, their bias included
  float logit_softcap = 0.0f;         // c: they become c tanh(logit / c); 0: they do not
  int32_t dropped_id = -1;            // a token whose row is 0 and for which the others grow (ESM); -1: none
  uint32_t token_types = 0;           // rows of their table; 0: there is none
  std::optional<GlobalSpec> globals = std::nullopt;  // of which token_types is the type
  uint32_t position_rows = 0;         // of the table of positions, if names.positions is one; 0: the context
  uint32_t first_position = 0;        // its row that sequences start at
  std::vector<float> position_table;  // [context, width], where names.positions is none
  std::vector<float> sines;           // [width / 2] frequencies of sines and cosines that are added, in pairs
  // They, token types and the embedding's norm come after its projection, not before it.
  bool positions_after_projection = false;
  // The projection takes three embeddings side by side: of the token behind, of the token itself and of the
  // one before.
  bool trigrams = false;
  std::vector<RopeSpec> ropes;
  // Each [heads, 2 most_layer_rows() - 1], by key - query; see biases_by_position.
  std::vector<std::vector<float>> attention_biases;
  std::vector<LayerSpec> layers;
  // Makes the layers' rows of the embedding, where layers build themselves over more columns than `width`.
  Remake expand = nullptr;
  PerLayerSpec per_layer = {};
  PictureSpec picture = {};
  std::optional<VisionInputSpec> vision_input = std::nullopt;  // of a decoder
  std::vector<uint32_t> rope_axes = {};  // of each frequency of the first rope (interleaved_axes)
  // Where attention_biases are by position, [heads * context, context].
  bool biases_by_position = false;
  // The original rounds the inputs of its matrices to 8 bits by rows, as q8c does, whatever the type asked
  // for.
  bool rounds_activations = false;
  bool tied_embedding;           // the head is the embedding
  bool transposed = false;       // the source has matrices as [in, out]
  bool optional_biases = false;  // a bias that need not be there is used if the source has it
  int32_t bos_id = -1;
  uint32_t memory = 0;                // tokens before a segment that its tokens see; 0: there are no segments
  bool last_hidden_unnormed = false;  // hidden states are named before the final norm
  HeadSpec head;
  bool without_tokenizer = false;  // texts are no sequences of its tokens alone, or there are none
  /// The encoder whose last hidden states `cross` of the layers attends to; null: there is none.
  std::shared_ptr<const TransformerSpec> source = nullptr;
  std::vector<ProgramSpec> programs = {};
  std::optional<VoiceSpec> voice = std::nullopt;
  std::optional<SpeechSpec> speech = std::nullopt;  // durations are the last columns of a transducer's logits
  std::string label = {};                           // starts the weights' names in the file
  bool shares_embedding = false;                    // an encoder's is that of the decoder
  std::vector<std::string> notes = {};              // what the user should know
  /// Reads a whole text at once and generates none: the speed of matmuls of many rows counts.
  bool is_encoder() const { return convert::is_encoder(head.kind); }
  WeightNames names;

  uint32_t most_layer_rows() const { return layer_rows != 0 ? layer_rows : context; }

  /// Sets `count` layers that are as `layer`, each with weights of its own.
  void repeat(const LayerSpec& layer, uint32_t count);
};

/// Throws Error where the spec contradicts itself, naming the layer and what is wrong with it.
void check_spec(const TransformerSpec& spec);

}  // namespace mote::convert
