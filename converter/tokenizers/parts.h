// SPDX-License-Identifier: Apache-2.0
//
// The parts that tokenizers of both kinds of files are put together from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// GPT-2's expression, that of the ByteLevel pre-tokenizer.
extern const char* const kGpt2Words;

/// The character by which byte-level vocabularies write a byte (Radford et al. 2019): itself where it is
/// printable Latin-1, else U+0100 and on.
std::string byte_sign(uint8_t byte);

/// The bytes that a byte-level token stands for; the text itself where it has characters that stand for none.
std::string from_byte_signs(const std::string& text);

/// The byte of "<0x0A>".
std::optional<uint8_t> byte_of_token(std::string_view text);

std::string utf8_of(uint32_t code_point);

std::string replace_all(const std::string& text, const std::string& from, const std::string& to);

/// The character of a text that has one only.
std::optional<uint32_t> single_character(std::string_view text);

/// Merges steps into one another where that gives the same pieces: a step that cuts out single characters of
/// a class becomes an alternative of the next, which then sees the other characters only. Fewer steps read
/// text with less looking ahead. Those before and after step number `apart` stay apart.
void fuse_splits(std::vector<SplitSpec>& splits, size_t apart);

/// Adds a step that cuts before runs of `sign` if no merge joins anything to a `sign` behind it: words then
/// are short and the ids the same.
void split_at_sign(TokenizerSpec& spec, const std::vector<std::string>& vocabulary, const std::string& sign);

}  // namespace mote::convert
