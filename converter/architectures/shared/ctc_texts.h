// SPDX-License-Identifier: Apache-2.0
//
// Texts of the labels of a model for CTC whose vocabulary is a vocab.json: transformers' Wav2Vec2CTCTokenizer
// and Wav2Vec2PhonemeCTCTokenizer.
#pragma once

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

struct CtcTexts {
  std::vector<std::string> labels;  // " " parts words; one that ends with a space is a word by itself
  int32_t blank = -1;               // -1: there is no vocab.json
  bool cleans_up = false;           // spaces before some signs and endings are left out of a text
};

/// The texts of so many labels; without a vocab.json "<0>" and so on. Throws Error for what would be decoded
/// otherwise.
CtcTexts read_ctc_texts(const Source& source, uint32_t vocab);

/// Returns labels that are their numbers, "<0>" and so on. Throws Error where there are too many to be held.
std::vector<std::string> numbered_labels(const Source& source, uint32_t count);

}  // namespace mote::convert
