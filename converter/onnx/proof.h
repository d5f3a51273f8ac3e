// SPDX-License-Identifier: Apache-2.0
//
// Compares a graph, followed for one set of inputs, with a spec: from the output back to the embedding.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/onnx/onnx_model.h"
#include "converter/onnx/trace.h"

namespace mote::convert {

/// The inputs that a graph is followed with.
struct OnnxSample {
  uint64_t batch = 2, length = 5;
  bool padded = false;         // the last sequence ends in two tokens that the mask leaves out
  uint64_t source = 0;         // rows of each sequence that a decoder attends to besides
  bool source_padded = false;  // the last two of the last sequence's are left out

  bool is_kept(uint64_t sequence, uint64_t row) const {
    return !padded || sequence + 1 != batch || row + 2 < length;
  }
  bool is_source_kept(uint64_t sequence, uint64_t row) const {
    return !source_padded || sequence + 1 != batch || row + 2 < source;
  }
};

/// The input of a decoder that its source's rows are.
inline constexpr const char* kOnnxSource = "encoder_hidden_states";
/// That of which of them count.
inline constexpr const char* kOnnxSourceMask = "encoder_attention_mask";

/// Sums of masks and biases, one in the other, before they are added to scores.
inline constexpr int kMostAddends = 4;

/// Proves that the graph computes what the spec says, with the weights that the spec's names stand for; gives
/// names to weights that had none. Throws Error, naming the operator and the node that differ.
void prove_onnx(Source& source, const std::shared_ptr<OnnxModel>& model, const TransformerSpec& spec);
/// Proves a decoder whose source is in a graph of its own.
void prove_onnx(Source& source, const std::shared_ptr<OnnxModel>& encoder,
                const std::shared_ptr<OnnxModel>& decoder, const TransformerSpec& spec);

class OnnxProof {
 public:
  OnnxProof(Source& source, std::shared_ptr<OnnxModel> model, const TransformerSpec& spec,
            const OnnxSample& sample, OnnxTrace trace)
      : source_(source), model_(std::move(model)), spec_(spec), sample_(sample), trace_(std::move(trace)) {}

  /// Throws Error at the first node that differs.
  void run();
  /// Says whether activations are rounded to integers in the graph, which mote does in its own way.
  bool rounds() const { return trace_.rounds; }
  /// How the graph makes a vector of a text's rows; none where it leaves the rows.
  const std::optional<SentencePooling>& pooling() const { return pooling_; }

 private:
  struct Product {
    const OnnxNode* node;
    Traced x, weight, bias;  // the bias may be null
    bool turned;             // the weight is [outputs, inputs] as it is used
    std::vector<float> scales, zeros;
  };

  // proof.cpp
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string what = fmt::format(format, std::forward<Args>(args)...);
    fail("{}: {}", at_ == nullptr ? trace_.where : describe_node(trace_.where, *at_), what);
  }
  /// The atom that the tensor is; null where its elements are of none, of several or moved.
  const TracedAtom* atom(const Traced& tensor) const;
  /// That of the operator, which becomes the place that messages name; null for another.
  const TracedAtom* node(const Traced& tensor, const char* op);
  const TracedAtom& need(const Traced& tensor, const char* op, const std::string& what);
  bool is_vector(const Traced& tensor) const;
  bool is_same(const Traced& a, const Traced& b);
  /// Says whether a number of the graph is the config's; in a graph of half precision, rounded to it.
  bool is_near(float value, float expected) const;
  double tolerance() const { return model_->half ? 1e-3 : 2e-6; }
  std::vector<float> numbers(const Traced& tensor) const;
  /// Refuses a tensor that broadcasting does not make one of `dims`.
  void broadcast_dims(const Traced& tensor, const std::vector<uint64_t>& dims) const;
  Traced whole(int32_t atom) const;

  void bind(const std::string& name, const OnnxWeight& weight);
  bool take_copy(const OnnxWeight& known, const OnnxWeight& weight, const std::string& name);
  void bind_vector(const std::string& name, const Traced& vector);
  OnnxWeight weight_of(const TracedAtom& atom) const;
  std::optional<Product> core(const Traced& tensor);
  std::optional<Product> product(const Traced& tensor);
  void bind_product(const std::string& name, const Product& product);
  /// The input of the linear `name`, of which the tensor must be the output. An empty bias: there is none.
  Traced linear(const Traced& tensor, const std::string& name, const std::string& bias);
  Traced norm(const Traced& tensor, const std::string& name);
  std::optional<Traced> centered(const Traced& tensor);
  /// The linear `name` and what is added to it.
  std::pair<Traced, Traced> sum(const Traced& tensor, const std::string& name);
  Traced layer(Traced x, const LayerSpec& layer);

  // prove_activation.cpp
  Traced activation(const Traced& tensor, Activation activation, const std::string& what);
  double evaluate(const Traced& tensor, int32_t base, double x, int depth);
  Traced base_of(const Traced& tensor, int depth);

  // prove_attention.cpp
  struct Scores {
    std::vector<TracedElement> elements;
    std::vector<float> added;
    float factor = 1.0f;
  };
  /// Returns the rows that the queries are made of. Keys and values are of the same rows, or, where it
  /// crosses, the source's.
  Traced attention(const Traced& merged, const LayerSpec& layer, bool crosses);
  TracedAtom scored(const Traced& scores, const LayerSpec& layer, bool crosses, float& factor);
  const TracedAtom& one_atom(const std::vector<TracedElement>& elements, int32_t& index);
  std::vector<TracedElement> unscaled(const Traced& tensor, float& factor);
  void peel_scores(Scores& scores);
  void check_mask(const Scores& scores, const LayerSpec& layer, bool crosses, bool causal);
  Traced heads(const Traced& tensor, float& factor, const LayerSpec& layer, char which, uint64_t rows);

  // prove_ends.cpp
  Traced output();
  Traced head(const Traced& output);
  Traced dense(const Traced& tensor, const DenseSpec& spec);
  Traced first_rows(const Traced& tensor);
  void pooler(const Traced& hidden);
  void embedding(Traced x);
  std::vector<Traced> addends(const Traced& tensor, size_t depth);
  void looked_up(const Traced& tensor, std::set<std::string>& roles);
  void picture(const Traced& x);
  void patches(const Traced& tensor);

  // prove_t5.cpp
  Traced rms_norm(const Traced& tensor, const std::string& name);
  Traced gated(const Traced& tensor, const LayerSpec& layer);
  std::optional<float> value_of(TracedElement element, int depth) const;
  bool has_values(const Traced& tensor) const;
  float expected_bias(const LayerSpec& layer, uint64_t head, uint64_t query, uint64_t key) const;

  // prove_pooling.cpp
  const TracedAtom* spread_atom(const Traced& tensor, uint64_t width);
  Traced unnormalized(const Traced& tensor);
  Traced rows_of_mean(const Traced& tensor);
  Traced rows_of_first(const Traced& tensor);
  Traced unpooled(const Traced& vector);
  Traced hidden_of_vectors();

  // prove_sound.cpp
  void sound(const Traced& x);
  Traced convolution(const Traced& tensor, const TimeConv& conv, uint32_t channels);

  Source& source_;
  std::shared_ptr<OnnxModel> model_;
  const TransformerSpec& spec_;
  OnnxSample sample_;
  OnnxTrace trace_;
  const OnnxNode* at_ = nullptr;
  std::optional<SentencePooling> pooling_ = std::nullopt;
};

}  // namespace mote::convert
