// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// The texts that a chat template sees as bos_token, eos_token and so on: of a directory from
/// tokenizer_config.json, else special_tokens_map.json; of a GGUF the tokens of its ids. Throws Error.
std::vector<std::pair<std::string, std::string>> special_token_texts(const Source& source,
                                                                     const TokenizerSpec* tokenizer);

}  // namespace mote::convert
