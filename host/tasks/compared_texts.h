// SPDX-License-Identifier: Apache-2.0
//
// Which texts fit a picture or a sound, by the two towers of a model of these and of texts: labels without
// training.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/tasks/text_encoder.h"
#include "mote/pictures.h"

namespace mote::host {

/// Fails for a model of pictures whose vectors are not compared with those of texts.
Status require_similarity(const Model& model, const mote_picture_info& picture);

/// Turns cosines of two vectors into logits: scale * cosine + bias.
struct Similarity {
  float scale = 0.0f;  // 0: the vectors are not compared with those of texts
  float bias = 0.0f;   // not 0: each text has a probability by itself
};

/// Fails for a model of sounds whose vectors are not compared with those of texts.
Status require_similarity(const Model& model);

/// The vectors of texts, by the texts' tower.
class ComparedTexts {
 public:
  /// Fails for a model that gives no vectors of texts. The model must outlive the object.
  static Result<ComparedTexts> make(const Model& model, const SessionChoices& choices,
                                    std::span<const std::string> texts, const Hooks& hooks);

  /// Returns a probability for each text, by the vector of a picture or a sound: CLIP's and CLAP's are
  /// probabilities among the texts, SigLIP's of each text by itself. Fails for vectors of another size.
  Result<std::vector<float>> probabilities(const std::vector<float>& vector,
                                           const Similarity& similarity) const;

 private:
  explicit ComparedTexts(const Model& model) : model_(&model) {}

  const Model* model_;
  std::vector<std::vector<float>> vectors_;
};

}  // namespace mote::host
