// SPDX-License-Identifier: Apache-2.0
//
// From what a model says of tokens to spans of the text.
#pragma once

#include <string>
#include <vector>

#include "host/tasks/text_encoder.h"

namespace mote::host {

struct LabelledSpan {
  std::string label;  // of an entity
  mote_span bytes;
  double probability;
};

/// Neighbouring tokens of one kind are an entity; "B-PER" starts one, "I-PER" goes on with it, "O" is
/// outside. With a single label tokens have it from a probability of 0.5 on. probabilities: [tokens][labels];
/// an entity's is the mean of its tokens'.
std::vector<LabelledSpan> find_entities(const EncodedText& text, const std::vector<std::string>& labels,
                                        const std::vector<std::vector<float>>& probabilities);

/// The `most` likeliest spans of at most 30 tokens, the likeliest first: softmax of the logits of the first
/// token times that of the last, over the tokens of the text.
std::vector<LabelledSpan> find_answers(const EncodedText& text, std::vector<float> first,
                                       std::vector<float> last, size_t most);

}  // namespace mote::host
