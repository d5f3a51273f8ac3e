// SPDX-License-Identifier: Apache-2.0
//
// The registry of architectures and what their files share. To add one: a file that fills a TransformerSpec
// and a line in list.inc.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/config.h"
#include "converter/source.h"
#include "host/base/work_budget.h"

namespace mote::convert {

struct Architecture {
  const char* name;  // config.json's model_type
  TransformerSpec (*reader)(const Source& source, Config& config);

  /// Reads the config within a budget in proportion to the weights (work_budget.h): its sizes can ask for far
  /// more.
  TransformerSpec read(const Source& source, Config& config) const;
};

/// Returns the budget for what the config's sizes ask for: in proportion to the weights' values.
WorkBudget budget_of_sizes(const Source& source);

/// All, in the order of list.inc.
const std::vector<Architecture>& architectures();
/// Says whether a model_type is one of them.
bool is_architecture(const std::string& type);

/// The architecture that the config names. Throws Error for an unknown one.
const Architecture& find_architecture(Config& config);

// ---- For the architectures' files; all throw Error naming the key. ----

/// Sizes are bounded so that no product of two overflows and a wrong one is said as such.
inline constexpr uint32_t kMaxSize = 1u << 24;
inline constexpr uint32_t kMaxLayers = 1u << 12;
inline constexpr uint32_t kMaxHeadDim = 1u << 10;

/// The defaults of a config class for RoPE's keys that are absent.
struct RopeDefaults {
  double theta = 10000.0;
  std::optional<double> partial = std::nullopt;  // of a head's columns that turn; none: all, there is no key
  RopeKind kind = RopeKind::half;
  const char* theta_key = "rope_theta";
  const char* partial_key = "partial_rotary_factor";
  bool grows = false;  // llama_4_scaling_beta is a key
};

/// The defaults of the config class of a relative of llama, for keys that are absent.
struct LlamaDefaults {
  uint32_t vocab, ffn_width, context;               // ffn_width 0: the architecture reads it
  std::optional<uint32_t> kv_heads = std::nullopt;  // as many as heads
  std::optional<uint32_t> head_dim = std::nullopt;  // the width shared by the heads
  bool kv_heads_null = true;                        // null has a meaning: as many as heads
  bool head_dim_null = false;                       // beside a default: the width shared by the heads
  bool attention_bias = true, mlp_bias = true;      // whether the class heeds these keys
  bool has_attention_bias = false;                  // where the key is absent
  int32_t bos_id = -1;
  uint32_t width = 4096, layers = 32, heads = 32;
  const char* eps_key = "rms_norm_eps";
  double eps = 1e-6;
  const char* activation_key = "hidden_act";  // null: the architecture reads it
  const char* activation = "silu";
  bool tied = false;
  RopeDefaults rope = {};
  bool own_ropes = false;  // the architecture reads them
};

/// The keys and names that llama's relatives share: sizes, heads, rms norms, RoPE, a gated feed-forward.
TransformerSpec read_llama_like(const Source& source, Config& config, const LlamaDefaults& defaults);
/// Reads a relative of llama with the defaults of the row `name`.
TransformerSpec read_llama_like(const Source& source, Config& config, std::string_view name);

/// The row `name` of llama_defaults.cpp, which has to be there.
const LlamaDefaults& llama_defaults(std::string_view name);

/// The norms, names and scale of the scores that layers of Gemma 4 have besides llama's, below one prefix.
void set_gemma4_names(const std::string& prefix, std::vector<LayerSpec>& layers);

/// num_kv_shared_layers: so many last layers attend to the keys and values of the last earlier layer of their
/// kind, `slides`. Weights that they have for keys and values are ignored.
void share_last_keys(Config& config, const std::vector<bool>& slides, uint32_t fallback,
                     TransformerSpec& spec);

/// PerLayerSpec and the layers' names for it, as Gemma 3n and 4 have them.
void read_layer_inputs(Config& config, const std::string& base, TransformerSpec& spec);

/// Granite's multipliers of the embedding, the branches, the scores and the logits.
void read_granite_multipliers(Config& config, TransformerSpec& spec);

/// The sizes, keys and names of a relative of GPT, as gpt_like.cpp lists them by model_type: heads of equal
/// width, layer norms before the branches, a plain feed-forward, biases everywhere. `base` starts the names.
TransformerSpec read_gpt_like(Config& config, const std::string& base, const std::string& model_type);

/// Puts the norms of the layer behind the sums.
void put_norms_behind(LayerNames& names);

/// The defaults of the config class of a relative of BERT, for keys that are absent.
struct BertDefaults {
  uint32_t vocab = 30522, width = 768, heads = 12, ffn_width = 3072;
  const char* activation = "gelu";
  uint32_t context = 512, token_types = 2;
  double eps = 1e-12;
  uint32_t layers = 12;
};

/// The keys and names that BERT's relatives share: sizes, layer norms after each block, learned positions, a
/// plain feed-forward. `base` ("bert.") starts the names of the encoder's weights where the file has a head
/// too.
TransformerSpec read_bert_like(const Source& source, Config& config, const std::string& base,
                               const BertDefaults& defaults);

/// Attention of heads that share `width` equally, as many of keys and values as of queries, with biases. The
/// keys' names are for messages.
AttentionSpec equal_heads(const Config& config, uint32_t width, uint32_t heads, const std::string& width_key,
                          const std::string& heads_key);

/// The names of the linears and norms of a layer whose norms follow the residual sums, each below one prefix.
struct PostNormNames {
  const char *q, *k, *v, *o, *attention_norm, *up, *down, *ffn_norm;
};
LayerNames post_norm_names(const std::string& prefix, const PostNormNames& names);
/// Returns the names, as post_norm_names() does, of a layer whose norms come first.
LayerNames pre_norm_names(const std::string& prefix, const PostNormNames& names);

/// Layer norms with biases and the epsilon `eps`.
void set_layer_norms(double eps, TransformerSpec& spec);
/// Sets layer norms with the epsilon of layer_norm_eps; `eps` where the key is absent.
void set_layer_norms(Config& config, double eps, TransformerSpec& spec);

/// The defaults of an encoder's config for keys that are absent, and the names of those that vary.
struct EncoderSizes {
  uint32_t vocab, width, context;
  double eps = 1e-12;
  const char* width_key = "hidden_size";
  const char* eps_key = "layer_norm_eps";  // null: it has none
};

/// An encoder's vocabulary, width, table of positions from its first row on, and layer norms.
TransformerSpec read_encoder(const Source& source, Config& config, const EncoderSizes& sizes);

/// Width, layers and norms of a vision transformer. `base` starts the names of its weights.
void read_vit_layers(Config& config, const std::string& base, double eps, TransformerSpec& spec);

/// The embedding's tables and norm, below `base` + "embeddings." as BERT has them.
void set_bert_embeddings(const std::string& base, WeightNames& names);

/// Marks keys as known that change nothing of what is computed.
void know(Config& config, std::initializer_list<const char*> keys);
/// Those of SpecAugment, of training.
void know_spec_augment(Config& config);

/// Sets the table of positions, which has `rows` whose first `first` stand for padding. The context is the
/// rest of them, or fewer if a sentence pooling says so.
void set_positions(const Source& source, const Config& config, uint32_t rows, uint32_t first,
                   TransformerSpec& spec);

/// The weights of the heads that a family of encoders knows; an empty name: it has none of that kind. Labels
/// of tokens are `classifier`, answers are `qa_outputs` in all of them.
struct HeadNames {
  std::string base;      // "bert." or "": what the names of the encoder's weights start with
  std::string pooler;    // of the first token, with tanh
  DenseSpec classifier;  // before the labels of a sequence
  std::string labels = "classifier";
  DenseSpec tokens;  // before the labels of tokens
  DenseSpec masked;  // before the vocabulary
  std::string vocabulary, vocabulary_bias;
};

/// Those of BERT.
HeadNames bert_heads(const std::string& base, const TransformerSpec& spec);
/// Its head before the vocabulary.
void set_bert_masked(const TransformerSpec& spec, HeadNames& names);

/// Those of RoBERTa and MPNet.
HeadNames roberta_heads(const std::string& base, uint32_t width);

/// Those of RoFormer, BigBird and Nyströmformer; `masked`: the width before the vocabulary.
HeadNames roformer_heads(const std::string& base, const TransformerSpec& spec, uint32_t masked);

/// Chooses the head that config.json's `architectures` names and fills spec.head, spec.tied_embedding and the
/// names to ignore. A source with a sentence pooling gets vectors, whatever head it has.
void read_head(const Source& source, Config& config, const HeadNames& names, TransformerSpec& spec);

/// The head of a decoder that labels texts, by their last token but padding, or tokens, where config.json's
/// `architectures` names one: the model becomes an encoder whose tokens see those before them. Throws Error
/// for layers that keep more than keys and values.
void read_decoder_head(const Source& source, Config& config, TransformerSpec& spec);

/// Makes an encoder of a decoder whose source has a sentence pooling: each token sees those before it. Throws
/// Error for layers that keep more than keys and values.
void make_embedder(const Source& source, TransformerSpec& spec);

/// Returns the task that config.json's `architectures` names: "ForTokenClassification"; "" for a bare model.
std::string task_of(Config& config);

/// A label for each row of the matrix but the last `others`.
std::vector<std::string> read_labels(const Source& source, Config& config, const std::string& matrix,
                                     uint64_t others = 0);

/// Labels of sequences, one for each row of the matrix `output`, by id2label.
void read_labels_head(const Source& source, Config& config, const std::string& output, TransformerSpec& spec);

/// Returns the start of the names of the model without its head: `base`, if the source has tensors of such
/// names, else nothing.
std::string base_of(const Source& source, const std::string& base);

/// Sets the windows of a model that alternates by layer_types or from max_window_layers on (Qwen).
void read_layer_windows(Config& config, std::vector<LayerSpec>& layers);

Activation read_activation(Config& config, const std::string& key, const std::string& fallback);
/// Reads the activation of a feed-forward, which may be squared too.
void read_activation(Config& config, const std::string& key, const std::string& fallback, FfnSpec& ffn);

/// Which layers slide by layer_types, or, where that is absent, by `fallback` of the layer's index.
std::vector<bool> read_sliding_layers(Config& config, size_t layers,
                                      const std::function<bool(uint32_t)>& fallback);
/// Refuses the key's value where it is anything but what is supported, `expected` or absent.
void require_flag(Config& config, const std::string& key, bool expected);

/// ALiBi's slopes as BLOOM and Falcon have them (Press et al. 2021).
std::vector<float> alibi_slopes(uint32_t heads);

/// The frequencies for heads of `head_dim`, of both spellings of the config (rope_parameters; rope_theta and
/// rope_scaling). `divisors`, if not empty, divide them (GGUF's rope_freqs).
RopeSpec read_rope(Config& config, uint32_t head_dim, uint32_t context, std::span<const float> divisors,
                   const RopeDefaults& defaults = {});

/// The ropes of layers that slide and of those that do not: rope_parameters has an object for each kind, or
/// older keys stand for the objects, of which rope_scaling holds for full layers, and for sliding ones if
/// `scales_sliding`.
struct KindRopes {
  RopeSpec full, sliding;
};
struct KindRopeKeys {
  RopeDefaults full, sliding;
  bool scales_sliding = false;
  uint32_t full_head_dim = 0, sliding_head_dim = 0;
};
KindRopes read_kind_ropes(Config& config, const KindRopeKeys& keys, uint32_t context);

/// Frequencies of the powers of theta, of heads of `head_dim`.
RopeSpec plain_rope(const Config& config, uint32_t head_dim, double theta);

/// read_rope of whole heads, with the class's theta where the config has none.
RopeSpec read_rope_or(Config& config, uint32_t head_dim, uint32_t context, double theta);

}  // namespace mote::convert
