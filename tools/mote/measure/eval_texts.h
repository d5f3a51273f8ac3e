// SPDX-License-Identifier: Apache-2.0
//
// How right an encoder is about texts whose labels or likeness people have judged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/mote/text_encoder.h"

namespace mote::cli {

struct LabelScore {
  uint64_t lines = 0, right = 0;
  double macro_f1 = 0;     // the mean of f1
  std::vector<double> f1;  // of each label
  double accuracy() const {
    return lines == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(lines);
  }
};

/// Each line of `path` is a text, a tab and its label, by name or by index; a first line "sentence<TAB>label"
/// is left out. `limit` 0: all lines. Throws convert::Error.
LabelScore score_labels(const ModelFile& file, TextEncoder& encoder, const std::string& path, uint64_t limit);

struct PairScore {
  uint64_t lines = 0;
  double spearman = 0;  // of the vectors' cosines and the scores given
};

/// Each line of `path` is two texts and a score, with tabs between. A first line whose score is no number is
/// left out.
PairScore score_pairs(TextEncoder& encoder, const std::string& path, uint64_t limit);

/// Spearman's correlation: Pearson's of the ranks, equal values sharing their mean rank; 0 where one does not
/// vary.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace mote::cli
