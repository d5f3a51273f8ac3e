// SPDX-License-Identifier: Apache-2.0
//
// The texts of tokens as vocabularies write them: byte-level signs, bytes in brackets, single characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mote::convert {

/// Cuts texts as GPT-2 does: the expression of the ByteLevel pre-tokenizer.
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

}  // namespace mote::convert
