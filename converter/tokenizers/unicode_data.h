// SPDX-License-Identifier: Apache-2.0
//
// The facts about characters that normalization needs, as Hugging Face's tokenizers (0.23) know them: their
// tables are of different Unicode versions, and ids follow the tables.
#pragma once

#include <string>
#include <vector>

#include "converter/tokenizers/regex.h"
#include "schema/text_formats.h"

namespace mote::convert {

/// NFD of a character or, if `compatible`, NFKD, before marks are put in order; Hangul is left as it is.
std::u32string decomposition(uint32_t code_point, bool compatible);

uint32_t combining_class(uint32_t code_point);
std::vector<CombiningRange> combining_ranges();

/// The pairs that NFC makes one character, Hangul left out; by first, then second.
const std::vector<Composition>& compositions();

std::u32string lower_case(uint32_t code_point);

CharSet mark_set();             // of StripAccents
CharSet nonspacing_mark_set();  // of BertNormalizer
CharSet control_set();          // what BertNormalizer takes out
CharSet ideograph_set();        // what it puts spaces around
CharSet punctuation_set();      // what BertPreTokenizer and Punctuation cut out

CharSet regex_word_set();       // \\w of Rust's regular expressions

/// Extended grapheme clusters (Unicode Standard Annex 29).
RegexPtr grapheme_cluster();

/// Characters before which a cluster ends, whatever stands there but those of cluster_prepend_set.
CharSet cluster_start_set();
CharSet cluster_prepend_set();

}  // namespace mote::convert
