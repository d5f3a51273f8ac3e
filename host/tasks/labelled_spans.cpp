// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/labelled_spans.h"

#include <algorithm>
#include <cmath>

namespace mote::host {
namespace {

constexpr size_t kLongestAnswer = 30;  // tokens

/// "PER" of "B-PER"; the label itself where it has no such start.
std::string kind_of(const std::string& label) {
  const bool marked = label.size() > 2 && label[1] == '-' && (label[0] == 'B' || label[0] == 'I');
  return marked ? label.substr(2) : label;
}

void softmax(std::vector<float>& logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (float& value : logits) sum += value = std::exp(value - largest);
  for (float& value : logits) value /= sum;
}

}  // namespace

std::vector<LabelledSpan> find_entities(const EncodedText& text, const std::vector<std::string>& labels,
                                        const std::vector<std::vector<float>>& probabilities) {
  std::vector<LabelledSpan> found;
  uint32_t tokens = 0;  // of the last entity; 0: it has ended
  for (uint32_t i = text.begin; i < text.end; ++i) {
    const auto best = std::max_element(probabilities[i].begin(), probabilities[i].end());
    const std::string& label = labels[static_cast<size_t>(best - probabilities[i].begin())];
    const mote_span span = text.spans[i];
    const bool outside = label == "O" || (labels.size() == 1 && *best < 0.5f);
    const std::string kind = kind_of(label);
    if (outside) {
      tokens = 0;
    } else if (tokens != 0 && found.back().label == kind && !label.starts_with("B-")) {
      found.back().bytes.end = span.end;
      found.back().probability += (double{*best} - found.back().probability) / ++tokens;
    } else {
      found.push_back({kind, span, *best});
      tokens = 1;
    }
  }
  return found;
}

std::vector<LabelledSpan> find_answers(const EncodedText& text, std::vector<float> first,
                                       std::vector<float> last, size_t most) {
  if (first.empty()) return {};
  softmax(first);
  softmax(last);
  std::vector<LabelledSpan> found;
  for (size_t begin = 0; begin < first.size(); ++begin) {
    for (size_t end = begin; end < std::min(begin + kLongestAnswer, last.size()); ++end) {
      found.push_back({"",
                       {text.spans[text.begin + begin].begin, text.spans[text.begin + end].end},
                       double{first[begin]} * double{last[end]}});
    }
  }
  most = std::min(most, found.size());
  std::partial_sort(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
      [](const LabelledSpan& a, const LabelledSpan& b) { return a.probability > b.probability; });
  found.resize(most);
  return found;
}

}  // namespace mote::host
