// SPDX-License-Identifier: Apache-2.0
//
// Python's view of a text: characters, not bytes. Every text here is valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mote::convert::jinja {

bool is_utf8(std::string_view text);
/// Bytes of the character at a byte position.
size_t character_bytes(std::string_view text, size_t at);
size_t count_characters(std::string_view text);
char32_t decode(std::string_view text, size_t at);
void append_character(std::string& text, char32_t character);
std::u32string characters(std::string_view text);
std::string from_characters(std::u32string_view text);

// ---- Classes of characters, as str.isspace() and its sisters have them ----

bool is_space(char32_t c);
bool is_printable(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
/// Beyond decimals only where c is ASCII; others are refused by name.
bool is_numeric(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_word(char32_t c);  // \w

// ---- Cases. Characters whose case is several characters are refused by name, except the sharp s. ----

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);
/// str.title(): a letter after no letter is large, the others are small.
std::string title(std::string_view text);
std::string swapcase(std::string_view text);

// ---- White space ----

/// Off one or both ends: the characters of `set`, or white space where it is null.
std::string_view strip(std::string_view text, const std::string* set, bool left, bool right);

}  // namespace mote::convert::jinja
