// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/vectors.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace mote::host {
namespace {

Result<std::string> prompt_of_name(const Model& model, const std::string& wanted) {
  if (std::optional<std::string> found = find_prompt(model, wanted)) return *std::move(found);
  std::string known;
  const char* name = nullptr;
  for (uint32_t i = 0; mote_model_prompt(model.get(), i, &name) != nullptr; ++i)
    known += (known.empty() ? "" : ", ") + one_line(name);
  return failed("{} has no prompt '{}'; it has {}", model.name(), wanted, known.empty() ? "none" : known);
}

std::string default_prompt(const Model& model) {
  const int32_t found = mote_model_default_prompt(model.get());
  return found == -1 ? "" : mote_model_prompt(model.get(), static_cast<uint32_t>(found), nullptr);
}

Result<std::string> prompt_of(const Model& model, const EmbedOptions& options) {
  if (options.prompt) return *options.prompt;
  if (!options.prompt_name.empty()) return prompt_of_name(model, options.prompt_name);
  return default_prompt(model);
}

}  // namespace

std::optional<std::string> find_prompt(const Model& model, std::string_view wanted) {
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(model.get(), i, &name); ++i) {
    if (wanted == name) return text;
  }
  if (wanted == "query" || wanted == "document") return "";
  return std::nullopt;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  const auto dot = [](std::span<const float> x, std::span<const float> y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  const double lengths = std::sqrt(dot(a, a) * dot(b, b));
  return lengths > 0 ? dot(a, b) / lengths : 0.0;
}

double similarity(mote_similarity kind, std::span<const float> a, std::span<const float> b) {
  if (kind == MOTE_SIMILARITY_COSINE) return cosine(a, b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = double{a[i]}, y = double{b[i]};
    sum += kind == MOTE_SIMILARITY_DOT         ? x * y
           : kind == MOTE_SIMILARITY_EUCLIDEAN ? (x - y) * (x - y)
                                               : std::abs(x - y);
  }
  if (kind == MOTE_SIMILARITY_DOT) return sum;
  return kind == MOTE_SIMILARITY_EUCLIDEAN ? -std::sqrt(sum) : -sum;
}

Result<Embedder> Embedder::make(const Model& model, const SessionChoices& choices,
                                const EmbedOptions& options) {
  MOTE_TAKE(TextEncoder encoder, TextEncoder::make(model, choices, {options.truncate, 0}));
  if (model.task() != MOTE_TASK_EMBED_TEXTS)
    return failed(Remedy::pooling, "{} gives no vectors of texts", model.name());
  Embedder embedder(std::move(encoder));
  MOTE_TAKE(embedder.prompt_, prompt_of(model, options));
  return embedder;
}

Status Embedder::embed(std::span<const std::string> texts, const Hooks& hooks, const Use& use) {
  std::vector<EncodedText> encoded;
  for (const std::string& text : texts) {
    MOTE_TAKE(EncodedText one, encoder_.tokenize(prompt_ + text, hooks));
    encoded.push_back(std::move(one));
  }
  return encoder_.encode(encoded, hooks, [&](size_t i, uint32_t row) { use(i, encoder_.row(row)); });
}

Result<std::vector<float>> Embedder::vector_of(std::string text, const Hooks& hooks) {
  std::vector<EncodedText> encoded(1);
  MOTE_TAKE(encoded.front(), encoder_.tokenize(std::move(text), hooks));
  std::vector<float> vector;
  MOTE_TRY(encoder_.encode(encoded, hooks, [&](size_t, uint32_t row) { vector = encoder_.row(row); }));
  return vector;
}

Result<Ranker> Ranker::by_vectors(const Model& model, const SessionChoices& choices,
                                  const EmbedOptions& options) {
  Ranker ranker;
  EmbedOptions of_texts = options;
  if (!options.prompt && options.prompt_name.empty()) of_texts.prompt_name = "document";
  MOTE_TAKE(ranker.embedder_, Embedder::make(model, choices, of_texts));
  ranker.before_query_ = *find_prompt(model, "query");
  ranker.similarity_ = mote_model_similarity(model.get());
  return ranker;
}

Result<Ranker> Ranker::by_pairs(const Model& model, const SessionChoices& choices, bool truncate) {
  Ranker ranker;
  MOTE_TAKE(ranker.encoder_, TextEncoder::make(model, choices, {truncate, 0}));
  if (model.task() != MOTE_TASK_SCORE_PAIRS)
    return failed(Remedy::rank, "{} is no cross encoder, which gives one score for two texts", model.name());
  return ranker;
}

Status Ranker::ask(std::string query, const Hooks& hooks) {
  query_ = before_query_ + std::move(query);
  if (!embedder_) return {};
  MOTE_TAKE(vector_, embedder_->vector_of(query_, hooks));
  return {};
}

Status Ranker::score(std::span<const std::string> texts, const Hooks& hooks, const Use& use) {
  if (embedder_) {
    return embedder_->embed(texts, hooks, [&](size_t i, std::span<const float> vector) {
      use(i, similarity(similarity_, vector_, vector));
    });
  }
  std::vector<EncodedText> encoded;
  for (const std::string& text : texts) {
    MOTE_TAKE(EncodedText pair, encoder_->tokenize_pair(query_, text, false, hooks));
    encoded.push_back(std::move(pair));
  }
  Status wrong;
  const Status status = encoder_->encode(encoded, hooks, [&](size_t i, uint32_t row) {
    Result<std::vector<float>> values = encoder_->probabilities(row);
    if (!values.ok()) return void(wrong = values.status());
    use(i, static_cast<double>(values->front()));
  });
  return wrong.ok() ? status : wrong;
}

}  // namespace mote::host
