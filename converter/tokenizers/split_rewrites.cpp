// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/split_rewrites.h"

#include "converter/tokenizers/token_texts.h"

namespace mote::convert {

void fuse_splits(std::vector<SplitSpec>& splits, size_t apart) {
  for (size_t i = apart; i + 1 < splits.size();) {
    const SplitSpec& first = splits[i];
    const SplitSpec& second = splits[i + 1];
    const bool fits = first.regex->kind == Regex::Kind::characters && first.keep_matches && first.keep_rest &&
                      second.keep_matches && second.keep_rest;
    if (!fits) {
      ++i;
      continue;
    }
    const RegexPtr others = restrict_to(second.regex, first.regex->set.complement());
    splits[i].regex = others == nullptr ? first.regex : make_choice({first.regex, others});
    splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

void split_at_sign(TokenizerSpec& spec, const std::vector<std::string>& vocabulary, const std::string& sign) {
  const auto code_point = single_character(sign);
  if (!code_point || spec.characters.count(*code_point) == 0) return;
  for (const MergeSpec& merge : spec.merges) {
    const std::string& left = vocabulary[merge.left];
    if (vocabulary[merge.right].compare(0, sign.size(), sign) != 0) continue;
    if (left.size() < sign.size() || left.compare(left.size() - sign.size(), sign.size(), sign) != 0) return;
  }
  const RegexPtr signs = make_characters(CharSet::of(*code_point));
  const RegexPtr others = make_characters(CharSet::of(*code_point).complement());
  spec.splits.push_back({make_choice(
      {make_sequence({make_repeat(signs, 0, Regex::kUnlimited), make_repeat(others, 1, Regex::kUnlimited)}),
       make_repeat(signs, 1, Regex::kUnlimited)})});
}

}  // namespace mote::convert
