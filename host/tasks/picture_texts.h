// SPDX-License-Identifier: Apache-2.0
//
// Which texts fit a picture, by the two towers of a model of pictures and texts: labels without training.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/tasks/text_encoder.h"
#include "mote/pictures.h"

namespace mote::host {

/// Fails for a model of pictures whose vectors are not compared with those of texts.
Status require_similarity(const Model& model, const mote_picture_info& picture);

/// The vectors of texts, by the texts' tower.
class PictureTexts {
 public:
  /// Fails for a model that gives no vectors of texts. The model must outlive the object.
  static Result<PictureTexts> make(const Model& model, const SessionChoices& choices,
                                   std::span<const std::string> texts, const Hooks& hooks);

  /// Returns a probability for each text, by the vector of a picture that `info` is about: CLIP's are
  /// probabilities among the texts, SigLIP's of each text by itself. Fails for vectors of another size.
  Result<std::vector<float>> probabilities(const std::vector<float>& picture,
                                           const mote_picture_info& info) const;

 private:
  explicit PictureTexts(const Model& model) : model_(&model) {}

  const Model* model_;
  std::vector<std::vector<float>> vectors_;
};

}  // namespace mote::host
