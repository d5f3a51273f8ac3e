// SPDX-License-Identifier: Apache-2.0
//
// The reading of an encoder's head: labels, entities, answers, masked words of texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/tasks/labelled_spans.h"
#include "host/tasks/text_encoder.h"

namespace mote::host {

/// Returns the indices of the k largest values, the largest first and of equal ones the first.
std::vector<uint32_t> largest(const std::vector<float>& values, size_t k);

struct Label {
  std::string name;
  float probability;
};
/// A token in place of a mask.
struct Fill {
  uint32_t id;
  std::string token;
  float probability;
};

/// The reading of one text, by the model's task: one of the lists.
struct TextReading {
  std::vector<Label> labels;             // labels_whole_texts
  std::vector<LabelledSpan> spans;       // MOTE_TASK_LABEL_TOKENS: entities; MOTE_TASK_FIND_ANSWERS: answers
  std::vector<std::vector<Fill>> masks;  // MOTE_TASK_FILL_MASKS: of each mask
};

/// Says that a model of the task labels whole texts, or pairs of them.
bool labels_whole_texts(mote_model_task task);

struct LabelOptions {
  std::string question;   // that an answer is found to in each text
  uint32_t top = 5;       // most labels, answers or words
  bool truncate = false;  // as in TextEncoderOptions
};

class TextClassifier {
 public:
  /// Fails for a model without such a head, and for a question that it does not answer or needs.
  static Result<TextClassifier> make(const Model& model, const SessionChoices& choices, LabelOptions options);

  mote_model_task task() const { return encoder_.model().task(); }
  size_t memory_bytes() const { return encoder_.session().arena_bytes(); }
  Result<EncodedText> read(std::string text, const Hooks& hooks) const;
  /// Reads two texts that are labelled together, for models that label texts.
  Result<EncodedText> read_pair(const std::string& first, std::string second, const Hooks& hooks) const;
  /// Calls use(text, what the model says of it) in order.
  using Use = std::function<void(const EncodedText&, const TextReading&)>;
  Status classify(const std::vector<EncodedText>& texts, const Hooks& hooks, const Use& use);

 private:
  TextClassifier(TextEncoder encoder, LabelOptions options)
      : encoder_(std::move(encoder)), options_(std::move(options)) {}
  Result<std::vector<uint32_t>> masks_of(const EncodedText& text) const;
  Result<TextReading> read_outputs(const EncodedText& text, uint32_t row, size_t masks) const;
  Result<std::vector<Label>> labels_at(uint32_t row) const;
  Result<std::vector<LabelledSpan>> entities_at(const EncodedText& text, uint32_t row) const;
  std::vector<LabelledSpan> answers_at(const EncodedText& text, uint32_t row) const;
  Result<std::vector<Fill>> fills_at(uint32_t row) const;
  std::string label(uint32_t index) const { return one_line(encoder_.model().label(index)); }

  TextEncoder encoder_;
  LabelOptions options_;
};

}  // namespace mote::host
