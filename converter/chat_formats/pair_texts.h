// SPDX-License-Identifier: Apache-2.0
//
// A cross encoder whose chat template puts a query and a document together, as sentence-transformers asks it.
#pragma once

#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/pair_prompts.h"

namespace mote::convert {

/// Adds the texts around a pair to the source's prompts, where it has such pairs. Throws Error where its template has none or
/// changes the two texts.
void add_pair_prompts(Source& source, const TokenizerSpec* tokenizer);

}  // namespace mote::convert
