// SPDX-License-Identifier: Apache-2.0
//
// Vectors of texts, and texts ranked by a query: by how near vectors are, or by a cross encoder's scores.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/tasks/text_encoder.h"

namespace mote::host {

/// Returns the model's prompt of this name; nothing: it has none. Every model has the names query and
/// document, as sentence-transformers sees it.
std::optional<std::string> find_prompt(const Model& model, std::string_view name);

double cosine(std::span<const float> a, std::span<const float> b);
/// Returns how near two vectors are, as sentence-transformers compares them: distances are negative, so that
/// more is nearer.
double similarity(mote_similarity kind, std::span<const float> a, std::span<const float> b);

struct EmbedOptions {
  std::optional<std::string>
      prompt;               // stands before each text; none: `prompt_name`, else the model's default
  std::string prompt_name;  // the model's own prompt of this name
  bool truncate = false;    // as in TextEncoderOptions
};

/// Texts to vectors.
class Embedder {
 public:
  /// Fails for a model that gives no vectors of texts, and for a prompt that it does not have.
  static Result<Embedder> make(const Model& model, const SessionChoices& choices,
                               const EmbedOptions& options);

  uint32_t width() const { return encoder_.output().width; }
  size_t memory_bytes() const { return encoder_.session().arena_bytes(); }
  /// Calls use(text's index, its vector [width]) in order.
  using Use = std::function<void(size_t, std::span<const float>)>;
  Status embed(std::span<const std::string> texts, const Hooks& hooks, const Use& use);
  /// Returns the vector of a text before which nothing stands.
  Result<std::vector<float>> vector_of(std::string text, const Hooks& hooks);

 private:
  explicit Embedder(TextEncoder encoder) : encoder_(std::move(encoder)) {}

  TextEncoder encoder_;
  std::string prompt_;
};

/// Scores texts against a query; the largest score is the best.
class Ranker {
 public:
  /// Compares vectors, as the model's authors do, with their prompts for queries and documents where
  /// `options` has none.
  static Result<Ranker> by_vectors(const Model& model, const SessionChoices& choices,
                                   const EmbedOptions& options);
  /// Reads the query and each text together, by a cross encoder, whose one label is the score.
  static Result<Ranker> by_pairs(const Model& model, const SessionChoices& choices, bool truncate);

  size_t memory_bytes() const {
    return embedder_ ? embedder_->memory_bytes() : encoder_->session().arena_bytes();
  }
  /// Takes the query of the scores to come.
  Status ask(std::string query, const Hooks& hooks);
  /// Calls use(text's index, its score) in order.
  using Use = std::function<void(size_t, double)>;
  Status score(std::span<const std::string> texts, const Hooks& hooks, const Use& use);

 private:
  Ranker() = default;

  std::string before_query_, query_;
  std::optional<Embedder> embedder_;    // by vectors
  std::optional<TextEncoder> encoder_;  // by pairs
  std::vector<float> vector_;           // of the query
  mote_similarity similarity_ = MOTE_SIMILARITY_COSINE;
};

}  // namespace mote::host
