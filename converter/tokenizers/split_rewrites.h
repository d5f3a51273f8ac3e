// SPDX-License-Identifier: Apache-2.0
//
// Rewrites the steps that cut a text into words so that the words are short and take little looking ahead.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// Merges steps into one another where that gives the same pieces: a step that cuts out single characters of
/// a class becomes an alternative of the next, which then sees the other characters only. Fewer steps read
/// text with less looking ahead. Those before and after step number `apart` stay apart.
void fuse_splits(std::vector<SplitSpec>& splits, size_t apart);

/// Adds a step that cuts before runs of `sign` if no merge joins anything to a `sign` behind it: words then
/// are short and the ids the same.
void split_at_sign(TokenizerSpec& spec, const std::vector<std::string>& vocabulary, const std::string& sign);

}  // namespace mote::convert
