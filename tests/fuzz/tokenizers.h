// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/support/text_tokenizer.h"

namespace fuzz {

/// The low bits of a byte pick one, null where there are not so many. Kept inputs mean what they do by this
/// order, so the list is only appended to.
inline const test::TextTokenizer* pick_tokenizer(uint8_t byte) {
  static const std::vector<test::TextTokenizer> tokenizers = [] {
    std::vector<test::TextTokenizer> list;
    for (const char* name : {"small", "own_gpt4", "own_wordpiece", "own_unigram", "own_clip"}) {
      const auto folder = std::filesystem::path(MOTE_SOURCE_DIR) / "tests/golden/tokenizers";
      list.emplace_back(test::read_json_tokenizer(folder / name / "tokenizer.json"), 4096);
    }
    return list;
  }();
  const size_t index = byte & 63u;
  return index < tokenizers.size() ? &tokenizers[index] : nullptr;
}

}  // namespace fuzz
