// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/compared_texts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mote::host {

Status require_similarity(const Model& model, const mote_picture_info& picture) {
  if (model.task() == MOTE_TASK_MEASURE_DEPTH)
    return failed(Remedy::depth, "{} measures depth", model.name());
  if (model.task() == MOTE_TASK_DETECT)
    return failed(Remedy::detect, "{} finds things in pictures", model.name());
  if (picture.similarity_scale == 0.0f)
    return failed(Remedy::embed, "{} has no head that labels anything", model.name());
  return {};
}

Status require_similarity(const Model& model) {
  if (model.sound().similarity_scale == 0.0f)
    return failed(Remedy::embed,
                  "{} has no head that labels sound, nor vectors that are compared with texts'",
                  model.name());
  return {};
}

Result<ComparedTexts> ComparedTexts::make(const Model& model, const SessionChoices& choices,
                                          std::span<const std::string> texts, const Hooks& hooks) {
  if (texts.empty()) return failed("there are no texts to compare with");
  MOTE_TAKE(TextEncoder encoder, TextEncoder::make(model, choices, {}));
  if (model.task() != MOTE_TASK_EMBED_TEXTS) return failed("{} gives no vectors of texts", model.name());
  std::vector<EncodedText> encoded;
  for (const std::string& text : texts) {
    MOTE_TAKE(EncodedText one, encoder.tokenize(text, hooks));
    encoded.push_back(std::move(one));
  }
  ComparedTexts made(model);
  MOTE_TRY(encoder.encode(encoded, hooks,
                          [&](size_t, uint32_t row) { made.vectors_.push_back(encoder.row(row)); }));
  return made;
}

Result<std::vector<float>> ComparedTexts::probabilities(const std::vector<float>& vector,
                                                        const Similarity& similarity) const {
  std::vector<float> values;
  for (const std::vector<float>& text : vectors_) {
    if (text.size() != vector.size())
      return failed("{} gives vectors of {} numbers, the other model's have {}: both must be of one model",
                    model_->name(), text.size(), vector.size());
    const float cosine = std::inner_product(text.begin(), text.end(), vector.begin(), 0.0f);
    values.push_back(similarity.scale * cosine + similarity.bias);
  }
  const bool alone = similarity.bias != 0.0f;
  const float most = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values)
    sum += value = alone ? 1.0f / (1.0f + std::exp(-value)) : std::exp(value - most);
  for (float& value : values) value /= alone ? 1.0f : sum;
  return values;
}

}  // namespace mote::host
