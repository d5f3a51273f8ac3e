// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer.json of BERT's kind that is small enough for the golden models' vocabularies.
#pragma once

namespace test {

inline constexpr const char* kPairTokenizer = R"({
  "added_tokens": [{"id": 0, "content": "[PAD]", "special": true}, {"id": 1, "content": "[UNK]", "special": true},
                   {"id": 2, "content": "[CLS]", "special": true}, {"id": 3, "content": "[SEP]", "special": true}],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 8,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "who": 4, "went": 5, "home": 6, "?": 7, "the": 8,
                      "##y": 9, "cafe": 10, "##s": 11, ".": 12, "\u4e2d": 13}},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}
})";

}  // namespace test
