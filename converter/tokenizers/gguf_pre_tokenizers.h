// SPDX-License-Identifier: Apache-2.0
//
// The pre-tokenizers that GGUF names (tokenizer.ggml.pre), as llama.cpp runs them, and as Hugging Face does
// where the two differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mote::convert {

struct GgufPreTokenizer {
  std::vector<std::string> expressions;  // one after the other, each on the pieces of those before
  bool whole_words = false;              // a word that is a token is not merged
  bool add_bos = false;                  // where the file does not say it
  bool composes = false;  // Hugging Face's tokenizers of that name make texts NFC, llama.cpp does not
};

/// Null for a name that is not known.
const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name);

}  // namespace mote::convert
