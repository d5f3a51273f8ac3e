// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/labels.h"

#include <algorithm>
#include <numeric>

namespace mote::host {
namespace {

constexpr uint32_t kMaskedRows = 32;  // words to fill in at once, each with logits over the vocabulary

bool labels_texts(mote_model_task task) {
  return labels_whole_texts(task) || task == MOTE_TASK_LABEL_TOKENS || task == MOTE_TASK_FIND_ANSWERS ||
         task == MOTE_TASK_FILL_MASKS;
}

}  // namespace

bool labels_whole_texts(mote_model_task task) {
  return task == MOTE_TASK_LABEL_TEXTS || task == MOTE_TASK_SCORE_PAIRS;
}

std::vector<uint32_t> largest(const std::vector<float>& values, size_t k) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  k = std::min(k, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
      [&](uint32_t a, uint32_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(k);
  return order;
}

Result<TextClassifier> TextClassifier::make(const Model& model, const SessionChoices& choices,
                                            LabelOptions options) {
  const mote_model_task task = model.task();
  const uint32_t rows = task == MOTE_TASK_FILL_MASKS ? kMaskedRows : 0;
  MOTE_TAKE(TextEncoder encoder, TextEncoder::make(model, choices, {options.truncate, rows}));
  if (!labels_texts(task)) return failed(Remedy::embed, "{} has no head that labels anything", model.name());
  if (task == MOTE_TASK_FIND_ANSWERS && options.question.empty())
    return failed(Remedy::give_question, "{} answers a question from each text, and is given none",
                  model.name());
  if (task != MOTE_TASK_FIND_ANSWERS && !options.question.empty())
    return failed(Remedy::no_question, "{} answers no questions", model.name());
  return TextClassifier(std::move(encoder), std::move(options));
}

Result<EncodedText> TextClassifier::read(std::string text, const Hooks& hooks) const {
  if (!options_.question.empty())
    return encoder_.tokenize_pair(options_.question, std::move(text), true, hooks);
  return encoder_.tokenize(std::move(text), hooks);
}

Result<EncodedText> TextClassifier::read_pair(const std::string& first, std::string second,
                                              const Hooks& hooks) const {
  if (!labels_whole_texts(task())) return failed("{} labels no pairs of texts", encoder_.model().name());
  return encoder_.tokenize_pair(first, std::move(second), false, hooks);
}

/// Returns the places of the token that stands for another.
Result<std::vector<uint32_t>> TextClassifier::masks_of(const EncodedText& text) const {
  std::vector<uint32_t> masks;
  for (uint32_t i = 0; i < text.ids.size(); ++i) {
    if (text.ids[i] == encoder_.model().task_info().mask_id) masks.push_back(i);
  }
  if (masks.empty()) return failed("\"{}\" has no [MASK] or <mask> to fill", one_line(text.text));
  return masks;
}

Status TextClassifier::classify(const std::vector<EncodedText>& texts, const Hooks& hooks, const Use& use) {
  std::vector<std::vector<uint32_t>> rows;
  if (task() == MOTE_TASK_FILL_MASKS) {
    for (const EncodedText& text : texts) {
      MOTE_TAKE(std::vector<uint32_t> masks, masks_of(text));
      rows.push_back(std::move(masks));
    }
  }
  Status wrong;
  const Status status = encoder_.encode(
      texts, hooks,
      [&](size_t i, uint32_t row) {
        Result<TextReading> reading = read_outputs(texts[i], row, rows.empty() ? 0 : rows[i].size());
        if (!reading.ok()) return void(wrong = reading.status());
        use(texts[i], *reading);
      },
      rows);
  return wrong.ok() ? status : wrong;
}

Result<TextReading> TextClassifier::read_outputs(const EncodedText& text, uint32_t row, size_t masks) const {
  TextReading reading;
  if (labels_whole_texts(task())) {
    MOTE_TAKE(reading.labels, labels_at(row));
  } else if (task() == MOTE_TASK_LABEL_TOKENS) {
    MOTE_TAKE(reading.spans, entities_at(text, row));
  } else if (task() == MOTE_TASK_FIND_ANSWERS) {
    reading.spans = answers_at(text, row);
  }
  for (uint32_t mask = 0; mask < masks; ++mask) {
    MOTE_TAKE(std::vector<Fill> fills, fills_at(row + mask));
    reading.masks.push_back(std::move(fills));
  }
  return reading;
}

Result<std::vector<Label>> TextClassifier::labels_at(uint32_t row) const {
  MOTE_TAKE(const std::vector<float> probabilities, encoder_.probabilities(row));
  std::vector<Label> labels;
  for (const uint32_t i : largest(probabilities, options_.top))
    labels.push_back({label(i), probabilities[i]});
  return labels;
}

Result<std::vector<LabelledSpan>> TextClassifier::entities_at(const EncodedText& text, uint32_t row) const {
  std::vector<std::vector<float>> probabilities;
  for (uint32_t i = 0; i < text.ids.size(); ++i) {
    MOTE_TAKE(std::vector<float> values, encoder_.probabilities(row + i));
    probabilities.push_back(std::move(values));
  }
  std::vector<std::string> labels;
  for (uint32_t i = 0; i < encoder_.output().labels; ++i) labels.push_back(label(i));
  return find_entities(text, labels, probabilities);
}

std::vector<LabelledSpan> TextClassifier::answers_at(const EncodedText& text, uint32_t row) const {
  std::vector<float> first, last;
  for (uint32_t i = text.begin; i < text.end; ++i) {
    const std::vector<float> logits = encoder_.row(row + i);
    first.push_back(logits[0]);
    last.push_back(logits[1]);
  }
  return find_answers(text, first, last, options_.top);
}

Result<std::vector<Fill>> TextClassifier::fills_at(uint32_t row) const {
  MOTE_TAKE(const std::vector<float> probabilities, encoder_.probabilities(row));
  std::vector<Fill> fills;
  for (const uint32_t id : largest(probabilities, options_.top))
    fills.push_back({id, encoder_.model().token_text(static_cast<int32_t>(id)), probabilities[id]});
  return fills;
}

}  // namespace mote::host
